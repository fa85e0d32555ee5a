//! To be written.

use crate::models::Model;

pub(in crate::models) fn models() -> Vec<Model> {
    Vec::new()
}
