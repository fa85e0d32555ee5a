//! Installs system packages if that needs no interaction.

use crate::output::print_line;
use crate::steps::Context;

/// Installs Debian packages that provide `missing`. Does so only on Debian and its derivatives, and
/// only with the permission to do it. Returns whether it succeeded.
pub(crate) fn packages(context: &Context, packages: &str, missing: &str) -> bool {
    if !context.command("apt-get").arg("--version").succeeds() {
        return false;
    }
    let is_root = context.command("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    let sudo = if is_root {
        context.command("env")
    } else if context.command("sudo").words("-n true").succeeds() {
        // `env` runs inside sudo, because sudo keeps few variables.
        context.command("sudo").words("-n env")
    } else {
        return false;
    };
    print_line!("installing {packages} (missing: {missing})");
    let apt_get = |line: &str| {
        sudo.clone()
            .words("DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600")
            .words(line)
            .run()
            .is_ok()
    };
    let install = format!("install -y --no-install-recommends {packages}");
    // The first attempt fails on a machine with no package lists yet, or with old ones.
    apt_get(&install) || (apt_get("update") && apt_get(&install))
}
