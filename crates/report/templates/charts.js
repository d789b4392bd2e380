// How charts look, on all pages: the colours of the page's look, axes, legends. What is drawn names colours as `chart.rs` says.
// `printing`: whether the page is being printed.
const fathomCharts = (printing) => {
  "use strict";
  // A policy without inline styles refuses the attribute `style`, by which plotly.js sets some, and allows the same as a property.
  const setAttribute = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function set(name, value) {
    if (name === "style" && this.style) this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const touch = matchMedia("(pointer: coarse)").matches;

  // The colours of Okabe and Ito, which eyes of all kinds tell apart, in the order that contrasts with the page.
  const LOOKS = {
    light: {
      series: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444", "#8C7A00"],
      ink: "#1b1f24", soft: "#57606a", faint: "#8a939d", line: "#d0d7de", page: "#ffffff",
    },
    dark: {
      series: ["#56B4E9", "#E69F00", "#1FC79A", "#DE97BF", "#F0E442", "#F0783C", "#C9CED4", "#5C9BD6"],
      ink: "#e6e8eb", soft: "#a2abb5", faint: "#7d8792", line: "#363d46", page: "#14171b",
    },
  };
  const look = () => (dark.matches && !printing() ? LOOKS.dark : LOOKS.light);

  // `@3` is the third colour of a series, `@ink` that of text; `~` after it makes it translucent.
  const colour = (name, look) => {
    const [, key, thin] = name.match(/^@(\w+)(~?)$/);
    const value = look[key] || look.series[Number(key)];
    return thin ? value + "38" : value;
  };
  const paint = (value, look) => {
    if (typeof value === "string") return /^@\w+~?$/.test(value) ? colour(value, look) : value;
    if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map((part) => paint(part, look));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, paint(part, look)]));
    }
    return value;
  };

  const axis = (given, look) => ({
    automargin: true, zeroline: false, gridcolor: look.line, linecolor: look.line, tickcolor: look.line, ...given,
    title: { standoff: 8, ...given.title },
  });
  const layout = (given, place) => {
    const now = look();
    const painted = paint(given, now);
    const narrow = place.clientWidth < 480;
    return {
      ...painted,
      xaxis: axis(painted.xaxis, now),
      yaxis: axis(painted.yaxis, now),
      font: { family: getComputedStyle(document.body).fontFamily, size: printing() || narrow ? 10 : 12, color: now.ink },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      // The row above the chart is for plotly's own buttons, which paper has not.
      margin: { l: 12, r: 12, t: printing() ? 8 : 30, b: 12 },
      legend: { orientation: "h", x: 0, xanchor: "left", y: 0, yref: "container", yanchor: "bottom", ...painted.legend },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: now.faint, activecolor: now.ink },
      hoverlabel: { bgcolor: now.page, bordercolor: now.line, font: { color: now.ink, size: 12 }, align: "left" },
      dragmode: touch ? false : "zoom",
      width: place.clientWidth, height: place.clientHeight,
    };
  };
  const traces = (given) => paint(given, look()).map((trace) => {
    if (trace.colorbar) {
      trace.colorbar = { thickness: 12, outlinewidth: 0, ...trace.colorbar };
    }
    return trace;
  });
  const config = { displaylogo: false, responsive: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };

  return { look, paint, layout, traces, config };
};
