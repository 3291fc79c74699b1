//! Says which of the two ABIs the sources of `capi` are compiled for, and gives the library its name. The header is made by the build
//! of `capi`.

fn main() {
    println!("cargo:rustc-check-cfg=cfg(standard_abi)");
    println!("cargo:rustc-cfg=standard_abi");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    // A call inside the library never goes through a symbol that a tool, or the library of the other ABI, has.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    println!("cargo:rerun-if-changed=build.rs");
}
