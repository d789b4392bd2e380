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
  // The policy of the page refuses styles in its markup.
  for (const place of places) place.style.height = `${place.dataset.height}px`;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const { layout, traces, config } = fathomCharts(() => printing);

  let drawn = 0;
  const draw = (index) => {
    const place = places[index];
    try {
      const done = Plotly.react(place, traces(figures[index].data), layout(figures[index].layout, place), config);
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
