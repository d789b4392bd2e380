//! A cloud of one's own: the worked example of docs/clouds.md, as it stands there, and what is said of one that is wrong.

use fathom_model::Catalog;
use fathom_model::catalog::Texts;
use fathom_model::spec::Limit;
use fathom_model::target;

const PAGE: &str = include_str!("../../../../docs/clouds.md");

/// The block of the page below the line that names a file.
fn example(file: &str) -> String {
    let heading = format!("`{file}`:\n```");
    let at = PAGE
        .find(&heading)
        .unwrap_or_else(|| panic!("no example of {file}"));
    let block = &PAGE[at + heading.len()..];
    let begin = block.find('\n').expect("a block") + 1;
    let end = block.find("\n```").expect("an end");
    block[begin..=end].to_owned()
}

fn read(cloud: &str, flex_disks: &str, vms: &str) -> Result<Catalog, String> {
    let texts = Texts {
        from: "moon",
        cloud: Some(cloud),
        disks: None,
        flex_disks: Some(flex_disks),
        vms: Some(vms),
        vm_limits: None,
        prices: None,
    };
    Catalog::read(texts).map_err(|error| error.to_string())
}

#[test]
fn the_example_of_the_page_is_a_cloud() {
    let [cloud, flex, vms] = ["cloud.toml", "flex-disks.csv", "vms.csv"].map(example);
    let catalog = read(&cloud, &flex, &vms).expect("a catalogue");
    assert_eq!(catalog.cloud(), "moon");
    let spec = target::parse("moon/2xdust:200GiB,vm=crater-2", &catalog).expect("a target");
    assert_eq!(spec.disks.len(), 2);
    assert_eq!(spec.disks[0].limits.iops, Limit::At(1_600));
    assert_eq!(spec.vm.expect("a machine").uncached.iops, Limit::At(20_000));
    assert_eq!(spec.slices.slice_ns, 0);
    // The clouds that are built in are there beside it.
    assert!(target::parse("aws/gp3:100GiB", &catalog).is_ok());
    let unknown = target::parse("mars/dust:1t", &catalog)
        .expect_err("none")
        .to_string();
    assert!(unknown.contains("azure/, aws/, gcp/"), "{unknown}");
}

#[test]
fn what_is_wrong_with_a_cloud_is_said_with_its_place() {
    let [cloud, flex, vms] = ["cloud.toml", "flex-disks.csv", "vms.csv"].map(example);
    let wrong = |old: &str, new: &str| {
        assert!(cloud.contains(old), "{old}");
        read(&cloud.replacen(old, new, 1), &flex, &vms).expect_err(new)
    };
    for (old, new, wanted) in [
        (
            "name = \"moon\"",
            "name = \"The Moon\"",
            "moon/cloud.toml:1:8: name: `The Moon`",
        ),
        (
            "table = \"dust\"",
            "table = \"rock\"",
            "there is no `rock` in [quantiles_us]",
        ),
        ("sizes = \"free\"", "sizes = \"big\"", "unknown variant `big`"),
        ("slice_ns = 0", "slice_ns = 7", "slices.slice_ns: 7 is not from"),
        ("[50, 600]", "[50, 6000]", "percentiles and times ascend"),
        ("title = \"Dust\"", "titel = \"Dust\"", "unknown field `titel`"),
    ] {
        let error = wrong(old, new);
        assert!(
            error.starts_with("moon/cloud.toml:") && error.contains(wanted),
            "{error}"
        );
    }
    let error = read(&cloud, &flex.replace("8*gib", "8*gigs"), &vms).expect_err("a formula");
    assert!(
        error.starts_with("moon/flex-disks.csv:2:") && error.contains("a number, gib, tib"),
        "{error}"
    );
}
