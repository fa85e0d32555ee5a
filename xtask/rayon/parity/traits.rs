//! Which traits the public types have, and which they have not.

use std::panic::{RefUnwindSafe, UnwindSafe};

use rayon_core::{
    BroadcastContext, Configuration, FnContext, Scope, ScopeFifo, ThreadBuilder, ThreadPool, ThreadPoolBuildError,
    ThreadPoolBuilder, Yield,
};

/// The names of those traits that the type has. A trait's constant is found only where the type's own is not, and
/// that is there only for types with the trait.
macro_rules! traits {
    ($type:ty) => {
        traits!($type: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Clone, Copy, Default, PartialEq, Eq)
    };
    ($type:ty: $($name:ident),+) => {{
        let mut names = Vec::new();
        $({
            struct Probe<T>(std::marker::PhantomData<T>);
            #[allow(dead_code)]
            trait Lacks {
                const HAS: bool = false;
            }
            impl<T> Lacks for Probe<T> {}
            #[allow(dead_code)]
            impl<T: $name> Probe<T> {
                const HAS: bool = true;
            }
            if Probe::<$type>::HAS {
                names.push(stringify!($name));
            }
        })+
        names.join(" ")
    }};
}

#[test]
fn the_traits_of_every_public_type_are_those_of_stock() {
    assert_eq!(traits!(ThreadPool), "Send Sync Unpin");
    assert_eq!(traits!(ThreadPoolBuilder), "Unpin Default");
    assert_eq!(traits!(Configuration), "Unpin Default");
    assert_eq!(traits!(ThreadPoolBuildError), "Send Sync Unpin");
    assert_eq!(traits!(ThreadBuilder), "Send Unpin");
    assert_eq!(traits!(Scope<'static>), "Send Sync Unpin");
    assert_eq!(traits!(ScopeFifo<'static>), "Send Sync Unpin");
    assert_eq!(traits!(BroadcastContext<'static>), "Unpin");
    assert_eq!(traits!(FnContext), "Unpin UnwindSafe RefUnwindSafe");
    assert_eq!(traits!(Yield), "Send Sync Unpin UnwindSafe RefUnwindSafe Clone Copy PartialEq Eq");
}
