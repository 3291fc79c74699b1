//! The staged prefix, and the C programs of these tests, compiled once.
//! Invariant: a [`Stage`] has a launcher, a library, and every program.

use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Default)]
pub struct Stage {
    prefix: PathBuf,
    build: PathBuf,
}

impl Stage {
    /// Finds the prefix (`OXMPI_STAGE`, else `target/stage`) and compiles the programs with its mpicc.
    ///
    /// Errors: there is no such prefix, or something does not compile.
    pub fn find() -> Result<Stage, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let prefix = std::env::var_os("OXMPI_STAGE")
            .map_or_else(|| root.join("target/stage"), PathBuf::from);
        let prefix = std::path::absolute(&prefix).map_err(|error| error.to_string())?;
        for name in ["bin/mpiexec", "bin/mpicc", "lib/libmpi.so.12"] {
            let path = prefix.join(name);
            if !path.exists() {
                return Err(format!("{} is not there", path.display()));
            }
        }
        let build = root.join("target/environment");
        std::fs::create_dir_all(&build).map_err(|error| format!("{}: {error}", build.display()))?;
        let stage = Stage { prefix, build };
        let mpicc = stage.program("bin/mpicc");
        stage.compile("cc", &root.join("tests/environment/confine.c"), root)?;
        for name in [
            "confined/exchange",
            "confined/windows",
            "confined/blocked",
            "confined/holder",
            "coll/oversubscribed",
            "init/open_session",
            "io/contiguous",
            "io/views",
            "io/views_random",
            "io/shared",
            "io/split",
            "io/buffers",
            "io/resize",
        ] {
            let source = root.join(format!("c-tests/{name}.c"));
            stage.compile(&mpicc, &source, &root.join("c-tests/common"))?;
        }
        Ok(stage)
    }

    fn compile(&self, compiler: &str, source: &Path, include: &Path) -> Result<(), String> {
        let name = source.file_stem().unwrap_or_default();
        let mut command = Command::new(compiler);
        command
            .args(["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"])
            .arg("-I")
            .arg(include)
            .arg("-o")
            .arg(self.build.join(name))
            .arg(source);
        let output = command
            .output()
            .map_err(|error| format!("{compiler}: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        Err(format!("does not compile: {command:?}\n{text}"))
    }

    /// A path below the prefix.
    pub fn program(&self, name: &str) -> String {
        self.prefix.join(name).to_string_lossy().into_owned()
    }

    /// A compiled program.
    pub fn test(&self, name: &str) -> String {
        self.build.join(name).to_string_lossy().into_owned()
    }
}
