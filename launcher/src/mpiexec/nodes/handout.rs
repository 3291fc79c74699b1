//! What the root hands out to the keeper of a host, and the plan that the keeper makes of it.

use crate::mpiexec::plan::{Plan, ProgramPlan, RankPlan};
use crate::mpiexec::request::Request;
use oxmpi::launch::map::NodeMap;
use serde::{Deserialize, Serialize};

/// What a keeper needs to start the ranks of its host.
#[derive(Debug, Serialize, Deserialize)]
pub struct Start {
    /// Without programs.
    pub request: Request,
    pub programs: Vec<ProgramPlan>,
    pub ranks: Vec<RankPlan>,
    /// Ranks of the job.
    pub size: usize,
    pub host: String,
    /// See `NodeMap`.
    pub mapping: String,
    pub hosts: String,
    pub process_sets: String,
    pub job: u64,
    /// Where mpiexec was started.
    pub folder: String,
}

/// The plan of a node keeper, in which the ranks of this host get their processors.
pub fn of_start(start: Start, place: u32) -> Result<Plan, String> {
    let nodes = NodeMap::parse(&start.mapping, &start.hosts, start.size as u32);
    let mut plan = Plan {
        programs: start.programs,
        ranks: start.ranks,
        size: start.size,
        host: start.host,
        place,
        nodes: nodes.ok_or("the node map makes no sense")?,
        further_hosts: Vec::new(),
        request: Request {
            timeout: None,
            ..start.request
        },
        process_sets: start.process_sets,
        job: start.job,
        preput: Vec::new(),
        spawned: false,
        singleton: None,
        crowd: None,
        claim: None,
    };
    plan.bind_here()?;
    // On this host nobody has made them.
    let files = plan
        .ranks
        .iter()
        .filter_map(|rank| rank.output_file.as_ref());
    for folder in files.filter_map(|file| file.parent()) {
        if plan.request.output_folder.is_some() {
            let _ = std::fs::create_dir_all(folder);
        }
    }
    Ok(plan)
}

impl Plan {
    /// What the keeper of a place needs to start its ranks.
    pub fn start_of(&self, place: u32) -> Result<Start, String> {
        let ranks: Vec<RankPlan> = self
            .ranks
            .iter()
            .filter(|it| it.place == place)
            .cloned()
            .collect();
        let folder =
            std::env::current_dir().map_err(|error| format!("no current folder: {error}"))?;
        Ok(Start {
            request: self.request.clone(),
            programs: self.programs.clone(),
            host: self.further_hosts[place as usize - 1].clone(),
            ranks,
            size: self.size,
            mapping: self.nodes.mapping(),
            hosts: self.nodes.folded_hosts(),
            process_sets: self.process_sets.clone(),
            job: self.job,
            folder: folder
                .to_str()
                .ok_or("the current folder is not UTF-8")?
                .to_owned(),
        })
    }
}
