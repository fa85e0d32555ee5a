//! Tests of the traits that the public types have and do not have.

use std::panic::{RefUnwindSafe, UnwindSafe};

use rayon_core::{
    BroadcastContext, Configuration, FnContext, Scope, ScopeFifo, ThreadBuilder, ThreadPool, ThreadPoolBuildError,
    ThreadPoolBuilder, Yield,
};

/// Lists the names of the traits that the type has. The inherent constant exists only for types
/// with the trait, and the constant of `Lacks` is found only if there is no inherent one.
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
