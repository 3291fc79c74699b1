//! Opening the fabric: this process's card and settings go to the launcher's key-value store, and those of others come from it.

use super::{JOB, settings};
use crate::error::{Class, Error, Result};
use crate::launch::{self, Job, Launcher};
use crate::transport::net::{Directory, Net};
use crate::transport::ofi::Fabric;
use crate::transport::{self, Table};
use std::sync::Arc;

/// The key-value store of the launcher, asked by key and process.
struct Store;

fn card_key(process: u32) -> String {
    format!("oxfabric-{process}")
}

fn settings_key(process: u32) -> String {
    format!("oxsettings-{process}")
}

impl Directory for Store {
    fn card(&self, process: u32) -> std::result::Result<Option<String>, String> {
        let Some(job) = JOB.get() else {
            return Ok(None);
        };
        if !job.has_server() {
            return Err(
                "this process has exchanged nothing with it before MPI_Finalize, which has left the launcher".to_owned(),
            );
        }
        // No answer is one that comes later.
        Ok(job.get(process, &card_key(process)).unwrap_or(None))
    }

    fn difference(&self, process: u32) -> Option<String> {
        let job = JOB.get()?;
        let theirs = job.get(process, &settings_key(process)).ok()??;
        Some(settings::difference_from(job.rank, (process, &theirs)))
    }

    fn host(&self, process: u32) -> String {
        if !launch::nodes::are_hosts() {
            return "this host".to_owned();
        }
        let name = JOB.get().and_then(|job| {
            let node = job.nodes.node_of(process);
            job.nodes.host(node)
        });
        // Not every launcher says it.
        name.unwrap_or_else(|| "another host".to_owned())
    }
}

/// Opens this process's ends of the fabric, for so many engines at most, and tells the others how to reach them.
pub(super) fn open(job: &Job, fabric: Fabric, table: Arc<Table>, engines: usize) -> Result<Net> {
    let failed = |text: String| {
        Error::new(
            Class::Other,
            format!(
                "rank {} cannot use a fabric (OXMPI_FABRIC={fabric}), which messages to other nodes need: {text}",
                job.rank
            ),
        )
    };
    let (hash, values) = settings::told();
    let one_host = !launch::nodes::are_hosts();
    let net = transport::open_fabric(fabric, one_host, table, Arc::new(Store), hash);
    let mut net = net.map_err(failed)?;
    net.open_further(engines);
    // Whoever sees the card sees the settings.
    job.put(&settings_key(job.rank), &values)?;
    job.put(&card_key(job.rank), &net.card().map_err(failed)?)?;
    if job.how == Launcher::Pmi1 {
        // Others need not see a value before a barrier.
        job.barrier()?;
    }
    transport::show_fabric(job.rank, &net);
    Ok(net)
}
