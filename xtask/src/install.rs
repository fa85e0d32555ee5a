//! Packages of the system, where they can be had without a question.

use crate::console::say;
use crate::steps::Context;

/// Installs Debian packages for want of `missing`, if this is a Debian or one of its kin and we may. Returns whether it went well.
pub(crate) fn packages(context: &Context, packages: &str, missing: &str) -> bool {
    if !context.call("apt-get").arg("--version").succeeds() {
        return false;
    }
    let is_root = context.call("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    let sudo = if is_root {
        context.call("env")
    } else if context.call("sudo").words("-n true").succeeds() {
        // Inside of sudo, which keeps few variables.
        context.call("sudo").words("-n env")
    } else {
        return false;
    };
    say!("installing {packages}, for want of {missing}");
    let apt_get = |line: &str| {
        sudo.clone()
            .words("DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600")
            .words(line)
            .run()
            .is_ok()
    };
    let install = format!("install -y --no-install-recommends {packages}");
    // A machine that has no package lists yet, or old ones, fails the first time.
    apt_get(&install) || (apt_get("update") && apt_get(&install))
}
