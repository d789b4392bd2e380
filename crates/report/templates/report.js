// Draws the figures into their places with plotly.js: in the colours of the page's look, anew when that changes or when the page
// is printed. The document's element says in `data-charts` how many are drawn, and `data-errors` what went wrong.
(() => {
  "use strict";
  const root = document.documentElement;
  const errors = [];
  const failed = (text) => {
    errors.push(String(text));
    root.dataset.errors = errors.join("\n");
  };
  addEventListener("error", (event) => failed(event.message));
  addEventListener("unhandledrejection", (event) => failed(event.reason));
  addEventListener("securitypolicyviolation", (event) => failed("refused: " + event.blockedURI));

  const figures = JSON.parse(document.getElementById("figures").textContent);
  const places = Array.from(document.querySelectorAll(".chart"));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const touch = matchMedia("(pointer: coarse)").matches;
  let printing = false;

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
  const look = () => (dark.matches && !printing ? LOOKS.dark : LOOKS.light);

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
  const layout = (given, place, look) => {
    const painted = paint(given, look);
    const narrow = place.clientWidth < 480;
    return {
      ...painted,
      xaxis: axis(painted.xaxis, look),
      yaxis: axis(painted.yaxis, look),
      font: { family: getComputedStyle(document.body).fontFamily, size: printing || narrow ? 10 : 12, color: look.ink },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      // The row above the chart is for plotly's own buttons, which paper has not.
      margin: { l: 12, r: 12, t: printing ? 8 : 30, b: 12 },
      legend: { orientation: "h", x: 0, xanchor: "left", y: 0, yref: "container", yanchor: "bottom", ...painted.legend },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: look.faint, activecolor: look.ink },
      hoverlabel: { bgcolor: look.page, bordercolor: look.line, font: { color: look.ink, size: 12 }, align: "left" },
      dragmode: touch ? false : "zoom",
      width: place.clientWidth, height: place.clientHeight,
    };
  };
  const traces = (given, place, look) => paint(given, look).map((trace) => {
    if (trace.colorbar) {
      trace.colorbar = { thickness: 12, outlinewidth: 0, ...trace.colorbar };
    }
    return trace;
  });
  const config = { displaylogo: false, responsive: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };

  let drawn = 0;
  const draw = (index) => {
    const place = places[index];
    const now = look();
    try {
      const done = Plotly.react(
        place, traces(figures[index].data, place, now), layout(figures[index].layout, place, now), config,
      );
      done.catch(failed);
      return done;
    } catch (error) {
      failed(error);
      return Promise.resolve();
    }
  };
  const drawAll = () => places.forEach((_, index) => draw(index));

  // One at a time, so that the page can be read meanwhile.
  const begin = async () => {
    for (let index = 0; index < places.length; index += 1) {
      await draw(index);
      drawn += 1;
      await new Promise((next) => setTimeout(next, 0));
    }
    root.dataset.charts = String(drawn);
  };

  let waiting = 0;
  let width = innerWidth;
  addEventListener("resize", () => {
    if (printing || innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
  dark.addEventListener("change", drawAll);

  const folded = [];
  addEventListener("beforeprint", () => {
    printing = true;
    root.classList.add("printing");
    for (const details of document.querySelectorAll("details:not([open])")) {
      details.open = true;
      folded.push(details);
    }
    drawAll();
  });
  addEventListener("afterprint", () => {
    printing = false;
    root.classList.remove("printing");
    while (folded.length) folded.pop().open = false;
    drawAll();
  });
  begin().catch(failed);
})();
