use super::*;

fn named(text: &str) -> Result<Layout<'static>, LayoutError> {
    Layout::named(text, Catalog::azure())
}

#[test]
fn a_layout_is_the_target_that_it_was_named_by() {
    for target in [
        "azure/P15",
        "azure/2xP15,vm=Standard_DS3_v2",
        "azure/P40,vm=Standard_DS3_v2,cache=ro",
        "azure/PremiumV2,size=100g,iops=4000,mbps=200,vm=Standard_D8s_v5",
        "azure/3xUltra,size=1024g,iops=9000,mbps=500.5",
        "azure/P30,burst=on-demand",
        "azure/2xP15,chunk=64k",
    ] {
        assert_eq!(named(target).map(|layout| layout.target()).as_deref(), Ok(target));
        let prefixed = format!("model:{target}");
        assert_eq!(named(&prefixed), named(target));
    }
}

#[test]
fn what_cannot_be_rented_is_no_layout() {
    let told = |text| named(text).expect_err(text).to_string();
    assert!(told("azure/P16").contains("no disk is called"));
    for (words, more) in [
        ("azure/P15,vm=D8s_v3,cache=ro,cache_size=1g", "cache_size=1g"),
        ("azure/P15,seed=7", "seed=7"),
        ("azure/P15,burst=empty", "burst=empty"),
        ("azure/P15,vm=D8s_v3,service=2019", "service=2019"),
        ("azure/P15,seed=7, burst=empty", "seed=7, burst=empty"),
    ] {
        let told = told(words);
        assert!(told.starts_with(more) && told.ends_with("leave it out"), "{told}");
    }
    // What is the same as if nothing was said is no more.
    assert!(named("azure/P15,burst=full,chunk=512k").is_ok());
    assert!(told("moon/gp3").contains("is no cloud"));
}

#[test]
fn sizes_are_written_as_targets_take_them() {
    assert_eq!(size_word(1500 * GIB), "1500g");
    assert_eq!(size_word(GIB / 2), "512m");
    assert_eq!(size_word(1000), "1000");
}
