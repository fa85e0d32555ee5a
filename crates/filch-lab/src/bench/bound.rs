//! The bound S that the fence-free queues of a run rely on, and what vouches for it.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use filch_queue::bound::{Bound, Delta};

use crate::lab::calibration::{Calibration, Cpu};
use crate::lab::{litmus, published};

/// The largest bound of the command line. It still allows a delta of 4.
pub(crate) const LARGEST: usize = 4 * (Delta::MAX_EXTRA_STORES + 1);

/// A bound and the reason it can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TrustedBound {
    bound: Bound,
    reason: String,
}

/// The reason why nothing vouches for a bound here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NoBound(String);

/// The bound of a run, or the reason why the queues that rely on one are left out.
pub(crate) type Vouched = Result<TrustedBound, NoBound>;

/// The options of a suite with queues that rely on a bound.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct BoundOptions {
    /// Set the bound that the fence-free queues rely on (default 128; none on CPUs of AMD).
    ///
    /// The bound is the number of entries in this CPU's store buffer, plus one, and plus a few: on a
    /// CPU with 112 entries, loads overtook 116 stores. You vouch for it: if it is too small, tasks
    /// may run twice, and a job that runs twice may corrupt memory. The default is above every known
    /// store buffer. On CPUs of AMD stores also wait elsewhere. So
    /// without this option the queues that rely on a bound are left out there.
    #[arg(long, value_name = "N", value_parser = store_bound)]
    bound: Option<usize>,

    /// Read the bound from a file that `filch-lab lab litmus --calibrate` has written.
    ///
    /// The file must be from this model of CPU. It is evidence, not proof: you vouch that it
    /// describes this CPU. Under a hypervisor, a CPU of the same name may have another store
    /// buffer.
    #[arg(long, value_name = "FILE", conflicts_with = "bound")]
    calibration: Option<PathBuf>,

    /// What was found out before, in place of these options.
    #[arg(skip)]
    found: Option<Vouched>,
}

impl BoundOptions {
    /// The options of a run for which the bound was chosen before.
    pub(crate) fn found(vouched: Vouched) -> BoundOptions {
        BoundOptions { found: Some(vouched), ..BoundOptions::default() }
    }

    /// The bound of the run.
    ///
    /// # Errors
    ///
    /// If a calibration cannot be read, or is of another CPU.
    pub(crate) fn vouched(&self) -> Result<Vouched> {
        self.vouched_on(litmus::emulator_here(), Cpu::here().as_ref())
    }

    /// The bound of a run under an emulator, or on a real CPU. `None` is a CPU that is no x86-64.
    fn vouched_on(&self, emulator: Option<&str>, cpu: Option<&Cpu>) -> Result<Vouched> {
        let Some(cpu) = cpu else {
            return Ok(Err(NoBound("on a CPU that is no x86-64 their owners keep the fence".to_owned())));
        };
        if let Some(emulator) = emulator {
            let why = format!("under {emulator}, there is no known bound on the stores that a load overtakes");
            return Ok(Err(NoBound(why)));
        }
        Ok(match (&self.found, self.bound, &self.calibration) {
            (Some(found), ..) => found.clone(),
            (None, Some(bound), _) => Ok(TrustedBound::given(bound)?),
            (None, None, Some(path)) => {
                let Calibration { bound, hypervisor, date, .. } = Calibration::read_here(path)?;
                let place = if hypervisor { " in a virtual machine" } else { "" };
                Ok(TrustedBound::with_reason(bound, &format!("measured{place} on {date}"))?)
            }
            (None, None, None) => NoBound::unless_in_store_buffer(cpu).map(|()| TrustedBound::published()),
        })
    }
}

impl TrustedBound {
    /// The bound above every store buffer ever published.
    pub(crate) fn published() -> TrustedBound {
        TrustedBound { bound: Bound::GENEROUS, reason: "above every published store buffer".to_owned() }
    }

    /// A bound that the caller vouches for: the entries of the store buffer, plus one.
    pub(crate) fn given(stores: usize) -> Result<TrustedBound> {
        TrustedBound::with_reason(stores, "as given")
    }

    /// A bound that was just found on this machine, and the reason to trust it.
    pub(crate) fn with_reason(stores: usize, reason: &str) -> Result<TrustedBound> {
        let bound = Bound::new(stores).context("this bound cannot be used")?;
        Ok(TrustedBound { bound, reason: reason.to_owned() })
    }

    /// The number of stores.
    pub(crate) fn stores(&self) -> Bound {
        self.bound
    }

    /// The delta if pops make only the one extra store that they must make.
    pub(crate) fn delta(&self) -> Result<Delta> {
        Ok(Delta::new(self.bound, 1)?)
    }

    /// A description of a delta and its origin.
    pub(crate) fn note(&self, delta: Delta) -> String {
        let extra = match delta.extra_stores() {
            1 => "1 extra store".to_owned(),
            extra => format!("{extra} extra stores"),
        };
        let stores = match delta.client_stores() {
            0 => extra,
            client => format!("{client} stores of the program and {extra}"),
        };
        format!("delta {} by {stores} a pop; S = {}, {}", delta.get(), self.bound.get(), self.reason)
    }
}

impl NoBound {
    /// Measurements of this run contradict each other.
    pub(crate) fn refuted() -> NoBound {
        NoBound("a load overtook more stores than the store buffer explains".to_owned())
    }

    /// A measurement of this run contradicts the given bound.
    pub(crate) fn given_is_refuted(stores: usize) -> NoBound {
        NoBound(format!("a load overtook more than the {stores} stores of --bound"))
    }

    /// Returns an error if stores of this machine's CPU also wait outside of the store buffer.
    pub(crate) fn unless_in_store_buffer_here() -> Result<(), NoBound> {
        Cpu::here().as_ref().map_or(Ok(()), NoBound::unless_in_store_buffer)
    }

    fn unless_in_store_buffer(cpu: &Cpu) -> Result<(), NoBound> {
        if published::stores_wait_only_in_buffer(cpu) {
            return Ok(());
        }
        Err(NoBound("on CPUs of AMD stores also wait outside of the store buffer, so no bound is known".to_owned()))
    }
}

impl fmt::Display for NoBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Parses a bound on the number of stores.
pub(crate) fn store_bound(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0 | 1) => {
            Err("too small: the bound is the number of entries in the store buffer, plus one; give 2 or more"
                .to_owned())
        }
        Ok(bound @ 2..=LARGEST) => Ok(bound),
        Ok(_) => Err(format!("too large: every known store buffer is much smaller; give at most {LARGEST}")),
        Err(_) => Err("this is not a number of stores; an example is 73".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(vendor: &str) -> Cpu {
        Cpu { vendor: vendor.to_owned(), ..Cpu::ice_lake() }
    }

    fn given(bound: usize) -> BoundOptions {
        BoundOptions { bound: Some(bound), ..BoundOptions::default() }
    }

    #[test]
    fn the_default_bound_is_above_all_published_ones_and_there_is_none_for_amd() {
        let on = |vendor| BoundOptions::default().vouched_on(None, Some(&cpu(vendor))).unwrap();
        assert_eq!(on("GenuineIntel"), Ok(TrustedBound::published()));
        assert!(on("AuthenticAMD").unwrap_err().to_string().contains("outside of the store buffer"));
    }

    #[test]
    fn a_given_bound_is_used_on_any_x86_but_not_under_an_emulator() {
        let seventy_three = Ok(TrustedBound::given(73).unwrap());
        for vendor in ["GenuineIntel", "AuthenticAMD"] {
            assert_eq!(given(73).vouched_on(None, Some(&cpu(vendor))).unwrap(), seventy_three);
        }
        let emulated = given(73).vouched_on(Some("QEMU without KVM"), Some(&cpu("GenuineIntel"))).unwrap();
        assert!(emulated.unwrap_err().to_string().starts_with("under QEMU without KVM"));
        assert!(given(73).vouched_on(None, None).unwrap().unwrap_err().to_string().contains("keep the fence"));
    }

    #[test]
    fn what_was_found_before_replaces_the_options() {
        let refuted = BoundOptions::found(Err(NoBound::refuted()));
        assert_eq!(refuted.vouched_on(None, Some(&cpu("GenuineIntel"))).unwrap(), Err(NoBound::refuted()));
    }

    #[test]
    fn a_calibration_that_cannot_be_read_is_an_error() {
        let options = BoundOptions { calibration: Some("/no/such/file".into()), ..BoundOptions::default() };
        let refusal = options.vouched_on(None, Some(&cpu("GenuineIntel"))).unwrap_err().to_string();
        assert!(refusal.contains("/no/such/file: cannot read the file"), "{refusal}");
    }

    #[test]
    fn a_note_says_where_a_delta_comes_from() {
        let published = TrustedBound::published();
        assert_eq!(
            published.note(published.delta().unwrap()),
            "delta 64 by 1 extra store a pop; S = 128, above every published store buffer"
        );
        let found = TrustedBound::with_reason(73, "as measured").unwrap();
        assert_eq!(found.note(found.delta().unwrap()), "delta 37 by 1 extra store a pop; S = 73, as measured");
        assert!(TrustedBound::given(0).is_err());
    }
}
