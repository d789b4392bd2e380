//! A need and its prices in words.

use super::{binding_words, duration, mbps, thousands};
use crate::document::content::Block;
use crate::planned::PlanReport;
use fathom_core::units::{Bytes, Nanos};
use fathom_plan::cost::{Commitment, HOURS_A_MONTH};
use fathom_plan::layout::OfMachine;
use fathom_plan::need::{Assumed, Bound, Need};
use fathom_plan::plan::Plan;
use fathom_plan::setup::Lasts;

/// What is needed, in one line.
pub(super) fn title(plan: &Plan<'_>) -> String {
    let need = &plan.need;
    let load = &need.load;
    let mut parts = Vec::new();
    if load.ios > 0 {
        parts.push(format!("{} IOPS", thousands(load.ios)));
        parts.push(format!("{} MB/s", mbps(load.bytes)));
        parts.push(format!("{} % reads", load.read_ppm / 10_000));
    }
    if need.size_bytes > 0 {
        parts.push(Bytes(need.size_bytes).to_string());
    }
    if let (Lasts::Seconds(seconds), true) = (&load.lasts, load.ios > 0) {
        parts.push(format!("for {} at a stretch", duration(*seconds)));
    }
    parts.extend(need.latency.iter().map(bound));
    format!("Needed: {}", parts.join(", "))
}

/// A bound on latency in words.
pub(super) fn bound(bound: &Bound) -> String {
    let name = bound.percentile.map_or_else(
        || String::from("mean latency"),
        |percentile| format!("p{percentile}"),
    );
    format!("{name} below {}", Nanos(bound.below_ns))
}

/// What it comes to, and what was assumed.
pub(super) fn lead(report: &PlanReport<'_>) -> Vec<String> {
    let plan = report.plan;
    let mut lines = Vec::new();
    if let Some(first) = plan.layouts.first() {
        let answer = &first.answer;
        let binding = answer
            .judged
            .binding()
            .map(|share| format!("; {} binds first", binding_words(share.of)));
        let on = answer
            .layout
            .machine
            .map_or_else(String::new, |vm| format!(" on {}", vm.name));
        lines.push(format!(
            "Cheapest: {}{on}, {} a month{}.",
            answer.layout.disks_word(),
            report.money.told(&answer.cost),
            binding.unwrap_or_default()
        ));
        let whole = plan
            .layouts
            .iter()
            .find(|one| one.answer.cost.not_known().next().is_none());
        if answer.cost.not_known().next().is_some()
            && let Some(whole) = whole
        {
            lines.push(format!(
                "A part of its price is stated by no source. The cheapest whose price is known whole: {}, {} a month.",
                whole.answer.layout.disks_word(),
                report.money.told(&whole.answer.cost)
            ));
        }
    }
    lines.extend(
        plan.assumed
            .iter()
            .map(|assumed| assumed_words(*assumed, &plan.need)),
    );
    lines
}

fn assumed_words(assumed: Assumed, need: &Need) -> String {
    match assumed {
        Assumed::BlockBytes(bytes) => format!("Assumed: I/Os of {} (--bs says otherwise).", Bytes(bytes)),
        Assumed::MeanBlock(bytes) => format!("Taken together, an I/O carries {} on average.", Bytes(bytes)),
        Assumed::Bytes(bytes) => format!(
            "IOPS of this size are {} MB/s, more than --mbps asks for: that is planned for.",
            mbps(bytes)
        ),
        Assumed::Ios(ios) => format!(
            "So many MB/s of this size are {} IOPS, more than --iops asks for: that is planned for.",
            thousands(ios)
        ),
        Assumed::AsPresent { vcpus, memory_bytes } => format!(
            "Machines of at least {vcpus} processors and {}, as the present one has (--vcpus and --memory say otherwise).",
            Bytes(memory_bytes)
        ),
        Assumed::Reads => format!(
            "Assumed: {} % of the I/Os are reads (--read says otherwise).",
            need.load.read_ppm / 10_000
        ),
    }
}

/// Where prices are from, and what was left out for lack of a figure.
pub(super) fn prices(report: &PlanReport<'_>) -> Vec<Block> {
    let plan = report.plan;
    let mut lines = vec![report.prices.clone()];
    let terms = plan.need.choice.terms;
    if terms.hours_a_month != HOURS_A_MONTH {
        lines.push(format!(
            "A month of a machine is {} hours here.",
            terms.hours_a_month
        ));
    }
    match terms.commitment {
        Commitment::None => {}
        Commitment::OneYear => lines.push(String::from("Machines are committed to for a year.")),
        Commitment::ThreeYears => lines.push(String::from("Machines are committed to for three years.")),
    }
    let money = &report.money;
    if money.code != "USD" {
        lines.push(format!("USD 1 is taken for {} {}.", money.code, money.per_usd));
    }
    if plan.without_price > 0 {
        lines.push(format!(
            "Left out: {} machines of which no source states the price.",
            plan.without_price
        ));
    }
    if plan.without_limit > 0 {
        lines.push(format!(
            "Left out: {} machines that may do, but no source states a limit that this load would meet.",
            plan.without_limit
        ));
    }
    if plan.too_slow > 0 {
        lines.push(format!(
            "Left out: {} cheaper layouts that are too slow on the model{}.",
            plan.too_slow,
            if report.seen.is_some() {
                ", or were held in more seconds than may be"
            } else {
                ""
            }
        ));
    }
    let by_transaction = plan
        .layouts
        .iter()
        .any(|one| one.answer.cost.not_known().next().is_some());
    if by_transaction {
        lines.push(String::from(
            "A + behind a price: more is paid for, which no source states (standard disks cost per transaction as well, and \
             promise their limits less firmly).",
        ));
    }
    if plan.layouts.iter().any(|one| one.answer.layout.disk.is_chosen()) {
        lines.push(String::from(
            "Which machines and zones take freely sized disks, no source of the catalogue states: look before you rent.",
        ));
    }
    lines.extend(notes(plan));
    if let Some(budget) = plan.need.choice.budget_microusd {
        lines.push(format!(
            "Budget: {} {} a month.",
            report.money.code,
            report.money.of(budget)
        ));
    }
    vec![Block::List(lines)]
}

/// What is to be known of the families of what is listed, of their machines, and of the limits of both.
fn notes(plan: &Plan<'_>) -> Vec<String> {
    let mut whose: Vec<(String, Vec<String>)> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for one in plan.layouts.iter().chain(&plan.on_credit) {
        let layout = &one.answer.layout;
        let family = layout.disk.family();
        for (note, name) in layout.notes() {
            let place = whose.iter().position(|(known, _)| *known == note);
            let place = place.unwrap_or_else(|| {
                whose.push((note, Vec::new()));
                whose.len() - 1
            });
            let names = &mut whose[place].1;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if let (OfMachine::Row(row), Some(vm)) = (layout.limits, layout.machine)
            && !row.note.is_empty()
        {
            add(format!("Limits of {} on {family}: {}.", vm.name, row.note));
        }
    }
    let families: Vec<String> = plan.not_stated.iter().map(ToString::to_string).collect();
    if !families.is_empty() {
        add(format!(
            "Left out, since no source states a limit of theirs that this load would meet: {}.",
            families.join(", ")
        ));
    }
    let whose = whose
        .into_iter()
        .map(|(note, names)| format!("{}: {note}.", names.join(", ")));
    whose.chain(notes).collect()
}
