//! What the tables of parameter types in `param` are made into.

macro_rules! value_is_param {
    ($name:ident) => {
        impl Param<Small> for $name {
            type C = <$name as Value>::SmallC;
            const PINS: bool = <$name as Value>::PINS;
            #[inline(always)]
            fn take(c: Self::C, _: &'static str) -> Self {
                Self::from_small(c)
            }
        }

        impl Param<Large> for $name {
            type C = <$name as Value>::LargeC;
            const PINS: bool = <$name as Value>::PINS;
            #[inline(always)]
            fn take(c: Self::C, _: &'static str) -> Self {
                Self::from_large(c)
            }
        }
    };
}

/// Handles of objects that are collected only when no call uses them. Groups, infos, operations, error handlers and sessions are
/// reference-counted: a call holds its own reference.
macro_rules! pins {
    (Comm) => {
        true
    };
    (Datatype) => {
        true
    };
    (File) => {
        true
    };
    (Win) => {
        true
    };
    ($other:ident) => {
        false
    };
}

/// `Name = C type;` the same in both bindings.
macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident = $c:ty, $describe:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq)]
            #[repr(transparent)]
            pub struct $name(pub $c);

            impl Value for $name {
                type SmallC = $c;
                type LargeC = $c;
                const PINS: bool = pins!($name);
                #[inline(always)]
                fn from_small(c: $c) -> Self {
                    $name(c)
                }
                #[inline(always)]
                fn from_large(c: $c) -> Self {
                    $name(c)
                }
                #[inline(always)]
                fn to_small(self) -> Result<$c> {
                    Ok(self.0)
                }
                #[inline(always)]
                fn to_large(self) -> Result<$c> {
                    Ok(self.0)
                }
            }

            value_is_param!($name);

            impl Returned for $name {
                #[inline(always)]
                fn returned(self) -> $c {
                    self.0
                }
            }

            impl Describe for $name {
                fn describe(&self, text: &mut dyn Write) -> fmt::Result {
                    crate::describe::$describe(self.0, text)
                }
            }
        )*
    };
}

/// See [`Value::object`].
macro_rules! object {
    (Comm $value:expr) => {
        Some($value.0)
    };
    (Datatype $value:expr) => {
        Some($value.0)
    };
    (Errhandler $value:expr) => {
        Some($value.0)
    };
    (File $value:expr) => {
        Some(oxmpi::io::handle_of($value.0 as usize))
    };
    (Group $value:expr) => {
        Some($value.0)
    };
    (Info $value:expr) => {
        Some($value.0)
    };
    (Keyval $value:expr) => {
        Some($value.0)
    };
    (Op $value:expr) => {
        Some($value.0)
    };
    (Session $value:expr) => {
        Some($value.0)
    };
    (Win $value:expr) => {
        Some($value.0)
    };
    ($other:ident $value:expr) => {
        None
    };
}

/// See [`Value::NOTHING`].
macro_rules! nothing {
    (Comm) => {
        Some(Comm(crate::constants::MPI_COMM_NULL))
    };
    (Win) => {
        Some(Win(crate::constants::MPI_WIN_NULL))
    };
    ($other:ident) => {
        None
    };
}

macro_rules! null_is_ignored {
    (Status) => {
        cfg!(standard_abi)
    };
    ($other:ident) => {
        false
    };
}

/// What `handles!` and `numbers!` share: `from` makes the value inside from C's, `to` the other way.
macro_rules! converted {
    ($(#[$doc:meta])* $name:ident($inside:ty) = $c:ty, $from:path, $to:path) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq)]
        #[repr(transparent)]
        pub struct $name(pub $inside);

        impl $name {
            #[inline(always)]
            pub fn of_c(c: $c) -> Self {
                #[cfg(not(standard_abi))]
                return $name(c);
                #[cfg(standard_abi)]
                return $name($from(c));
            }

            /// As the program has it.
            #[inline(always)]
            pub fn to_c(self) -> $c {
                #[cfg(not(standard_abi))]
                return self.0;
                #[cfg(standard_abi)]
                return $to(self.0);
            }
        }

        impl Value for $name {
            type SmallC = $c;
            type LargeC = $c;
            const PINS: bool = pins!($name);
            const NULL_IS_IGNORED: bool = null_is_ignored!($name);
            const NOTHING: Option<Self> = nothing!($name);
            #[inline(always)]
            fn object(self) -> Option<c_int> {
                object!($name self)
            }
            #[inline(always)]
            fn from_small(c: $c) -> Self {
                Self::of_c(c)
            }
            #[inline(always)]
            fn from_large(c: $c) -> Self {
                Self::of_c(c)
            }
            #[inline(always)]
            fn to_small(self) -> Result<$c> {
                Ok(self.to_c())
            }
            #[inline(always)]
            fn to_large(self) -> Result<$c> {
                Ok(self.to_c())
            }
        }

        impl Returned for $name {
            #[inline(always)]
            fn returned(self) -> $c {
                self.to_c()
            }
        }

        value_is_param!($name);
    };
}

/// `Name = C type, conversion;` a handle: inside, and in MPICH's C, an integer; a pointer in the standard's.
macro_rules! handles {
    ($($name:ident = $c:ty, $describe:ident, $conversion:ident;)*) => {
        $(
            converted! {
                $name(c_int) = $c, crate::standard::handles::$conversion::inside, crate::standard::handles::$conversion::of_program
            }

            #[allow(dead_code)] // not every handle has these functions
            impl $name {
                /// The integer that stands for the handle in MPI_Comm_toint and its like.
                pub fn to_int(self) -> HandleInt {
                    HandleInt(self.to_c() as _)
                }

                pub fn of_int(number: HandleInt) -> Self {
                    Self::of_c(number.0 as u32 as usize as _)
                }
            }

            impl Describe for $name {
                fn describe(&self, text: &mut dyn Write) -> fmt::Result {
                    crate::describe::$describe(self.0, text)
                }
            }
        )*
    };
}

/// `Name = C type, conversion;` a number with special values, which differ between the ABIs; MPICH's inside.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident = $c:ty, $describe:ident, $conversion:ident;)*) => {
        $(
            converted! {
                $(#[$doc])*
                $name($c) = $c, crate::standard::numbers::$conversion::inside, crate::standard::numbers::$conversion::of_program
            }

            impl Describe for $name {
                fn describe(&self, text: &mut dyn Write) -> fmt::Result {
                    crate::describe::$describe(self.to_c(), text)
                }
            }
        )*
    };
}

/// `Name = C type without suffix | C type with _c;` 64 bits inside.
macro_rules! wide {
    ($($(#[$doc:meta])* $name:ident = $small:ty | $large:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq)]
            pub struct $name(pub i64);

            impl Value for $name {
                type SmallC = $small;
                type LargeC = $large;
                const PINS: bool = false;
                #[inline(always)]
                fn from_small(c: $small) -> Self {
                    $name(c.into())
                }
                #[inline(always)]
                fn from_large(c: $large) -> Self {
                    $name(c)
                }
                fn to_small(self) -> Result<$small> {
                    <$small>::try_from(self.0).or_else(|_| {
                        fail!(Class::ValueTooLarge, "the result {} needs the function with the \
                            suffix _c", self.0)
                    })
                }
                #[inline(always)]
                fn to_large(self) -> Result<$large> {
                    Ok(self.0)
                }
            }

            value_is_param!($name);

            impl Describe for $name {
                fn describe(&self, text: &mut dyn Write) -> fmt::Result {
                    write!(text, "{}", self.0)
                }
            }
        )*
    };
}

/// `Name = C function type without suffix | with _c;` a function of the program, or none.
macro_rules! function {
    ($($(#[$doc:meta])* $name:ident = $small:ident | $large:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy)]
            pub enum $name {
                Small(Option<$small>),
                Large(Option<$large>),
            }

            impl Param<Small> for $name {
                type C = Option<$small>;
                const PINS: bool = false;
                #[inline(always)]
                fn take(c: Self::C, _: &'static str) -> Self {
                    $name::Small(c)
                }
            }

            impl Param<Large> for $name {
                type C = Option<$large>;
                const PINS: bool = false;
                #[inline(always)]
                fn take(c: Self::C, _: &'static str) -> Self {
                    $name::Large(c)
                }
            }

            impl Describe for $name {
                fn describe(&self, text: &mut dyn Write) -> fmt::Result {
                    let absent = matches!(self, $name::Small(None) | $name::Large(None));
                    text.write_str(if absent { "NULL" } else { "function" })
                }
            }
        )*
    };
    ($($(#[$doc:meta])* $name:ident = $c:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy)]
            #[repr(transparent)]
            pub struct $name(pub Option<$c>);

            impl<F> Param<F> for $name {
                type C = Option<$c>;
                const PINS: bool = false;
                #[inline(always)]
                fn take(c: Self::C, _: &'static str) -> Self {
                    $name(c)
                }
            }

            impl Describe for $name {
                fn describe(&self, text: &mut dyn Write) -> fmt::Result {
                    text.write_str(if self.0.is_none() { "NULL" } else { "function" })
                }
            }
        )*
    };
}
