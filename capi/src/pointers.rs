//! Parameters that are pointers to values: results, and arrays in both directions.
//!
//! Invariant: nothing is read or written through a null pointer; every other address is taken on
//! the caller's word, as in any C library.

use crate::param::{Describe, Param, Value};
use oxmpi::error::{Class, Error, Result, memory};
use oxmpi::os::made;
use std::ffi::c_void;
use std::fmt::{self, Write};
use std::marker::PhantomData;

/// Declares a pointer type over `T: Value` with the C type `*mut T` or `*const T` of each binding.
macro_rules! pointers {
    ($($(#[$doc:meta])* $name:ident = *$mutability:ident;)*) => {
        $(
            $(#[$doc])*
            pub struct $name<T> {
                address: *mut c_void,
                large: bool,
                name: &'static str,
                element: PhantomData<T>,
            }

            impl<T> Clone for $name<T> {
                #[inline(always)]
                fn clone(&self) -> Self {
                    *self
                }
            }

            impl<T> Copy for $name<T> {}

            impl<T: Value> Param<crate::param::Small> for $name<T> {
                type C = *$mutability T::SmallC;
                const PINS: bool = T::PINS;
                #[inline(always)]
                fn take(c: Self::C, name: &'static str) -> Self {
                    Self { address: c as *mut c_void, large: false, name, element: PhantomData }
                }
            }

            impl<T: Value> Param<crate::param::Large> for $name<T> {
                type C = *$mutability T::LargeC;
                const PINS: bool = T::PINS;
                #[inline(always)]
                fn take(c: Self::C, name: &'static str) -> Self {
                    Self { address: c as *mut c_void, large: true, name, element: PhantomData }
                }
            }

            // Not every type has a use for all.
            #[allow(dead_code)]
            impl<T: Value> $name<T> {
                /// Fails for NULL: for results that must have a pointer before anything is done.
                #[inline(always)]
                pub fn not_null(&self) -> Result<()> {
                    if self.address.is_null() && !T::NULL_IS_IGNORED {
                        return Err(self.null_error());
                    }
                    Ok(())
                }
            }

            #[allow(dead_code)]
            impl<T> $name<T> {
                #[inline(always)]
                pub fn is_null(&self) -> bool {
                    self.address.is_null()
                }

                /// The address as a number, to compare with MPI_STATUS_IGNORE and its like.
                #[inline(always)]
                pub fn address(&self) -> *mut c_void {
                    self.address
                }

                /// Whether the function with the suffix `_c` was called.
                #[inline(always)]
                pub fn is_large(&self) -> bool {
                    self.large
                }

                #[cold]
                pub fn null_error(&self) -> Error {
                    Error::new(Class::Arg, format!("{} is NULL", self.name))
                }
            }
        )*
    };
}

pointers! {
    /// A value read through a pointer.
    In = *const;
    /// A result.
    Out = *mut;
    /// A value that is read and changed.
    InOut = *mut;
    /// An array that is read.
    Array = *const;
    /// An array that is read, which C does not call const (an old habit of the standard).
    LooseArray = *mut;
    /// An array of results.
    OutArray = *mut;
    /// An array that is read and changed.
    InOutArray = *mut;
}

macro_rules! readable {
    ($($name:ident)*) => {
        $(
            impl<T: Value> $name<T> {
                /// The element at `index`, which the caller's array must have.
                #[inline(always)]
                pub fn get(&self, index: usize) -> Result<T> {
                    if self.address.is_null() {
                        return Err(self.null_error());
                    }
                    if self.large {
                        // SAFETY: not null; the caller of the C function owns an array that long
                        // and does not change it during the call.
                        Ok(T::from_large(unsafe {
                            self.address.cast::<T::LargeC>().add(index).read()
                        }))
                    } else {
                        // SAFETY: as above.
                        Ok(T::from_small(unsafe {
                            self.address.cast::<T::SmallC>().add(index).read()
                        }))
                    }
                }

                /// The first `length` elements.
                #[allow(dead_code)] // not of every type
                pub fn elements(&self, length: usize) -> Result<Vec<T>> {
                    let mut all = memory::room(length, "elements of an argument")?;
                    for index in 0..length {
                        all.push(self.get(index)?);
                    }
                    Ok(all)
                }
            }
        )*
    };
}

macro_rules! writable {
    ($($name:ident)*) => {
        $(
            impl<T: Value> $name<T> {
                /// Writes the element at `index`, which the caller's array must have.
                #[inline(always)]
                pub fn put(&self, index: usize, value: T) -> Result<()> {
                    if self.address.is_null() {
                        return Err(self.null_error());
                    }
                    if let Some(object) = value.object()
                        && made::is_noted()
                    {
                        made::note(object);
                    }
                    if self.large {
                        let value = value.to_large()?;
                        // SAFETY: not null; the caller of the C function owns an array that long
                        // and nobody else uses it during the call.
                        unsafe { self.address.cast::<T::LargeC>().add(index).write(value) }
                    } else {
                        let value = value.to_small()?;
                        // SAFETY: as above.
                        unsafe { self.address.cast::<T::SmallC>().add(index).write(value) }
                    }
                    Ok(())
                }
            }
        )*
    };
}

macro_rules! described {
    ($($name:ident)*) => {
        $(
            impl<T> Describe for $name<T> {
                fn describe(&self, text: &mut dyn Write) -> fmt::Result {
                    crate::describe::address(self.address, text)
                }
            }
        )*
    };
}

described!(In InOut Array LooseArray OutArray InOutArray);

impl<T: Value> Describe for Out<T> {
    fn describe(&self, text: &mut dyn Write) -> fmt::Result {
        crate::describe::address(self.address, text)
    }

    fn make_nothing(&self) {
        if let Some(nothing) = T::NOTHING
            && self.not_null().is_ok()
        {
            // It fits: a handle is as long in both forms.
            let _ = self.set(nothing);
        }
    }
}

readable!(In InOut Array LooseArray InOutArray);
writable!(Out InOut OutArray InOutArray);

impl<T: Value> In<T> {
    #[inline(always)]
    pub fn read(&self) -> Result<T> {
        self.get(0)
    }
}

impl<T: Value> InOut<T> {
    #[inline(always)]
    pub fn read(&self) -> Result<T> {
        self.get(0)
    }

    #[inline(always)]
    pub fn set(&self, value: T) -> Result<()> {
        self.put(0, value)
    }
}

impl<T: Value> Out<T> {
    /// What a call that has succeeded has written there.
    pub fn written(&self) -> Option<T> {
        let given = In {
            address: self.address,
            large: self.large,
            name: self.name,
            element: PhantomData,
        };
        given.get(0).ok()
    }

    #[inline(always)]
    pub fn set(&self, value: T) -> Result<()> {
        self.put(0, value)
    }
}
