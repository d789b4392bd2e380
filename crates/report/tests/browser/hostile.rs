//! A name from outside that tries to be more than one.

/// As markup it would end a script, take the page's title, ask another machine and run.
pub(crate) const HOSTILE: &str =
    "</script><script>document.title='taken'</script><img src=http://192.0.2.1/x onerror=alert(1)>";
