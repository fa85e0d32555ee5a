//! A guide: what to use when, what it costs, and how it works.
//!
//! - [`choosing`]: join, scope, spawn, broadcast or explore.
//! - [`explore`]: worklists that grow, which work may be done twice, how to mark what was seen.
//! - [`waiting`]: what a worker does while it waits, the policies, and what each costs.
//! - [`from_rayon`], [`from_chili`]: for users of these crates.
//! - [`how_it_works`]: the fork stack, stealing, leapfrogging, sleeping, calls from outside;
//!   platforms and limits.

#[doc = include_str!("guide/choosing.md")]
pub mod choosing {}

#[doc = include_str!("guide/explore.md")]
pub mod explore {}

#[doc = include_str!("guide/waiting.md")]
pub mod waiting {}

#[doc = include_str!("guide/from_rayon.md")]
pub mod from_rayon {}

#[doc = include_str!("guide/from_chili.md")]
pub mod from_chili {}

#[doc = include_str!("guide/how_it_works.md")]
pub mod how_it_works {}
