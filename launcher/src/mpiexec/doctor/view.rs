//! What the doctor looks at: files of the system and variables, or those that a test has made.

use std::collections::BTreeMap;
use std::path::PathBuf;

pub struct View {
    root: PathBuf,
    variables: BTreeMap<String, String>,
}

impl View {
    pub fn of_this_system() -> View {
        let variables = std::env::vars_os().map(|(name, value)| {
            let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
            (text(name), text(value))
        });
        View {
            root: "/".into(),
            variables: variables.collect(),
        }
    }

    /// Where a path of the system is in this view.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The text of a small file, without white space around it; `None` if it cannot be read.
    pub fn file(&self, path: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.path(path)).ok()?;
        Some(text.trim().to_owned())
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The names in a folder, in order.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(path)).into_iter().flatten();
        let names = entries.flatten().map(|it| it.file_name());
        let mut names: Vec<String> = names
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        names
    }

    /// A variable that is set, and not to nothing.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name)?;
        (!value.is_empty()).then_some(value)
    }

    pub fn variable_names(&self) -> impl Iterator<Item = &String> {
        self.variables.keys()
    }

    /// A system that consists of these files and variables, in a folder of its own, which goes with the test.
    #[cfg(test)]
    pub fn of_test(files: &[(&str, &str)], variables: &[(&str, &str)]) -> View {
        use oxmpi::sync::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root =
            std::env::temp_dir().join(format!("oxmpi-doctor-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        let variables = variables.iter();
        let view = View {
            root,
            variables: variables
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        };
        for (path, text) in files {
            let path = view.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        view
    }
}

#[cfg(test)]
impl Drop for View {
    fn drop(&mut self) {
        if self.root.starts_with(std::env::temp_dir()) {
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }
}
