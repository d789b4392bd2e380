// Shows what the program tells: events as they come, after a lost connection from where that was. Names from outside are put in as
// text, never as markup. The document's element says in `data-events` how many came, in `data-had` the number of the last, in
// `data-charts` how many charts have data, in `data-errors` what went wrong.
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
  addEventListener("securitypolicyviolation", (event) => failed("refused: " + event.violatedDirective + " " + event.blockedURI));

  const { layout, traces, config } = fathomCharts(() => false);
  const element = (id) => document.getElementById(id);
  // So many of the last seconds are drawn; the program keeps more for who comes later.
  const SECONDS = 900;
  const intervals = [];
  const readings = [];
  const points = new Map();
  const stands = [];
  let about = { jobs: [], limits: [], devices: [] };
  let ended = false;
  let missed = 0;

  const number = (value, digits = 4) => {
    if (value === null || value === undefined) return "";
    if (value >= 10000) return Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");
    return String(Number(value.toPrecision(digits)));
  };
  // plotly.js would read tags and templates in names.
  const plain = (name) => name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll("%{", "% {").replaceAll("$", "\uff04");
  const row = (cells, words) => {
    const line = document.createElement("tr");
    cells.forEach((text, at) => {
      const cell = document.createElement("td");
      if (words.includes(at)) cell.className = "word";
      cell.textContent = text;
      line.append(cell);
    });
    return line;
  };

  const DASHES = ["solid", "dash", "dot", "dashdot"];
  const drawn = new Set();
  const draw = (id, data, given) => {
    const place = element(id);
    if (!data.length || !data.some((trace) => trace.x.length)) return;
    try {
      Plotly.react(place, traces(data), layout(given, place), config).catch(failed);
      drawn.add(id);
      root.dataset.charts = String(drawn.size);
    } catch (error) {
      failed(error);
    }
  };
  const timeAxis = { title: { text: "time, in seconds" }, nticks: 8 };
  const zeroAxis = (title) => ({ title: { text: title }, rangemode: "tozero", exponentformat: "SI" });

  // Lines of `of(load)` over time, one for each job and direction; a limit is a line over the whole width.
  const lines = (of, limits) => {
    const by = new Map();
    for (const interval of intervals) {
      for (const load of interval.loads) {
        const name = `${load.job}, ${load.op}`;
        if (!by.has(name)) by.set(name, { x: [], y: [] });
        by.get(name).x.push(interval.t);
        by.get(name).y.push(of(load));
      }
    }
    const data = Array.from(by, ([name, { x, y }], at) => ({
      type: "scatter", mode: "lines", name: plain(name), x, y, line: { color: `@${at % 8}`, dash: DASHES[at % 4], width: 1.5 },
    }));
    const first = intervals.length ? intervals[0].t : 0;
    const last = intervals.length ? intervals[intervals.length - 1].t : 0;
    const highest = data.reduce((most, trace) => Math.max(most, ...trace.y), 0);
    for (const limit of limits) {
      // A limit far above what is reached would leave the load a line at the bottom.
      if (limit.rate && limit.rate <= 4 * highest) {
        data.push({
          type: "scatter", mode: "lines", name: plain(limit.name), x: [first, last], y: [limit.rate, limit.rate],
          line: { color: "@ink", dash: "dash", width: 1 },
        });
      }
    }
    return data;
  };

  const latencies = () => {
    const kinds = [["p50", "median"], ["p99", "99th percentile"], ["p999", "99.9th percentile"], ["max", "longest"]];
    const loads = new Set(intervals.flatMap((interval) => interval.loads.map((load) => `${load.job}, ${load.op}`)));
    const data = [];
    Array.from(loads).slice(0, 4).forEach((name, which) => {
      kinds.forEach(([key, title], at) => {
        const x = [];
        const y = [];
        for (const interval of intervals) {
          for (const load of interval.loads) {
            if (`${load.job}, ${load.op}` === name && load[key] !== null) {
              x.push(interval.t);
              y.push(load[key]);
            }
          }
        }
        const label = loads.size > 1 ? `${plain(name)}: ${title}` : title;
        data.push({ type: "scatter", mode: "lines", name: label, x, y, line: { color: `@${at}`, dash: DASHES[which], width: 1.3 } });
      });
    });
    return data;
  };

  const heat = () => {
    let [low, high] = [Infinity, -Infinity];
    const columns = intervals.map((interval) => {
      const counts = new Map();
      for (const load of interval.loads) {
        for (const [bucket, count] of load.heat) {
          counts.set(bucket, (counts.get(bucket) || 0) + count);
          low = Math.min(low, bucket);
          high = Math.max(high, bucket);
        }
      }
      return counts;
    });
    if (low > high) return [];
    const y = [];
    const z = [];
    for (let bucket = low; bucket <= high; bucket += 1) {
      y.push(2 ** ((bucket + 0.5) / 4) / 1000);
      z.push(columns.map((counts) => (counts.has(bucket) ? Math.log10(counts.get(bucket) + 1) : null)));
    }
    return [{
      type: "heatmap", x: intervals.map((interval) => interval.t), y, z, showscale: false, hoverongaps: false,
      colorscale: "Viridis", hovertemplate: "%{x} s, %{y:.3~g} ms<extra></extra>",
    }];
  };

  const credits = () => {
    const names = new Set(intervals.flatMap((interval) => interval.credit.map(([name]) => name)));
    return Array.from(names, (name, at) => {
      const known = intervals.filter((interval) => interval.credit.some(([of]) => of === name));
      const left = (interval) => interval.credit.find(([of]) => of === name)[1] * 100;
      return {
        type: "scatter", mode: "lines", name: plain(name), x: known.map((interval) => interval.t), y: known.map(left),
        line: { color: `@${at % 8}`, dash: DASHES[at % 4] },
      };
    });
  };

  const ofDisks = (kinds) => {
    const devices = new Set(readings.flatMap((reading) => reading.disks.map((disk) => disk.device)));
    const data = [];
    Array.from(devices).slice(0, 8).forEach((device, which) => {
      kinds.forEach(([of, title, axis]) => {
        const known = readings.filter((reading) => reading.disks.some((disk) => disk.device === device));
        const y = known.map((reading) => of(reading.disks.find((disk) => disk.device === device)));
        data.push({
          type: "scatter", mode: "lines", name: `${plain(device)}: ${title}`, x: known.map((reading) => reading.t), y,
          line: { color: `@${data.length % 8}`, dash: DASHES[which % 4], width: 1.4 }, ...(axis ? { yaxis: axis } : {}),
        });
      });
    });
    return data;
  };
  const ofCpu = () => [
    ["busy", "CPU busy"], ["iowait", "CPU idle, I/O pending"], ["steal", "CPU stolen"], ["cpu_waiting", "waiting for a CPU"],
    ["io_waiting", "waiting for I/O"], ["memory_stalled", "stalled for memory"],
  ].map(([key, name], at) => ({
    type: "scatter", mode: "lines", name, x: readings.map((reading) => reading.t), y: readings.map((reading) => reading[key] * 100),
    line: { color: `@${at}`, dash: DASHES[at % 4], width: 1.4 },
  }));

  // Of disks that are served live: the limits of each, those that all share first.
  const limitsAt = (stand) => [
    ...stand.status.limits.map((limit) => ["all disks", limit]),
    ...stand.status.disks.flatMap((disk) => disk.limits.map((limit) => [disk.name, limit])),
  ];
  const several = () => stands.length && stands[stands.length - 1].status.disks.length > 1;
  const ofLimits = (of) => {
    const by = new Map();
    for (const stand of stands) {
      for (const [disk, limit] of limitsAt(stand)) {
        const name = several() ? `${disk}: ${limit.limit}` : limit.limit;
        if (!by.has(name)) by.set(name, { x: [], y: [] });
        by.get(name).x.push(stand.t);
        by.get(name).y.push(of(limit));
      }
    }
    return Array.from(by, ([name, { x, y }], at) => ({
      type: "scatter", mode: "lines", name: plain(name), x, y, line: { color: `@${at % 8}`, dash: DASHES[at % 4], width: 1.4 },
    }));
  };
  const inFlight = () => {
    const last = stands[stands.length - 1];
    return last.status.disks.map((disk, at) => ({
      type: "scatter", mode: "lines", name: plain(disk.name), x: stands.map((stand) => stand.t),
      y: stands.map((stand) => stand.status.disks[at].in_flight), line: { color: `@${at % 8}`, dash: DASHES[at % 4], width: 1.4 },
    }));
  };
  const lateness = () => [["p50", "median"], ["p99", "99th percentile"], ["max", "longest"]].map(([key, name], at) => ({
    type: "scatter", mode: "lines", name, x: stands.map((stand) => stand.t),
    y: stands.map((stand) => stand.status.lateness_ns[key] / 1000), line: { color: `@${at}`, dash: DASHES[at], width: 1.4 },
  }));
  const percent = (share) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
  const standing = () => {
    const last = stands[stands.length - 1];
    element("served-limits").replaceChildren(...limitsAt(last).map(([disk, limit]) => row([
      disk, limit.limit, limit.counts === "bytes" ? `${number(limit.rate_per_second / 1e6)} MB` : number(limit.rate_per_second),
      percent(limit.used_per_second / limit.rate_per_second), number(limit.held_ns / 1e9, 3),
      limit.credit ? percent(limit.credit.left / Math.max(1, limit.credit.full)) : "",
      limit.credit && limit.credit.ends_in_s !== null ? `${number(limit.credit.ends_in_s, 3)} s` : "",
    ], [0, 1])));
    element("served-disks").replaceChildren(...last.status.disks.map((disk) => row([
      disk.name, number(disk.in_flight), percent(disk.throttled_percent / 100), number(disk.unflushed_bytes / 1e6, 3), number(disk.errors),
      [disk.attached ? "attached" : "detached", ...disk.faults].join(", "),
    ], [0, 5])));
  };

  const cards = () => {
    const shown = [];
    const last = intervals[intervals.length - 1];
    if (last) {
      const sum = (of) => last.loads.reduce((all, load) => all + of(load), 0);
      const known = (key) => last.loads.map((load) => load[key]).filter((value) => value !== null);
      const most = (key) => Math.max(...known(key));
      shown.push(["time", `${Math.round(last.t)} s`, last.ramp ? "ramp or cooldown" : ""]);
      shown.push(["I/Os a second", number(sum((load) => load.iops)), Array.from(new Set(last.loads.map((load) => load.op))).join(", ")]);
      shown.push(["MB/s", number(sum((load) => load.bytes) / 1e6), ""]);
      if (known("p99").length) {
        shown.push(["99th percentile", `${number(most("p99"), 3)} ms`, `longest ${number(most("max"), 3)} ms`]);
      } else {
        shown.push(["99th percentile", "–", "no I/O in the last second"]);
      }
      const wrong = intervals.reduce((all, interval) => all + interval.loads.reduce((sum, load) => sum + load.errors, 0), 0);
      if (wrong) shown.push(["I/Os that failed", number(wrong), ""]);
      const backlog = Math.max(...last.loads.map((load) => load.backlog));
      if (backlog) shown.push(["due and not sent", number(backlog), "of an open loop"]);
      for (const [name, left] of last.credit) shown.push([`credit: ${name}`, `${(left * 100).toFixed(1)} %`, "left"]);
    }
    const stand = stands[stands.length - 1];
    if (stand) {
      const late = stand.status.lateness_ns;
      const sum = (of) => stand.status.disks.reduce((all, disk) => all + of(disk), 0);
      shown.push(["in flight", number(sum((disk) => disk.in_flight)), ""]);
      shown.push(["held by limits", percent(Math.max(...stand.status.disks.map((disk) => disk.throttled_percent)) / 100), "of the time of I/Os"]);
      if (late.n) {
        shown.push(["answers late by", `${number(late.p99 / 1000, 3)} µs`, `99th percentile; ${late.valid ? "valid" : "not valid"}`]);
      }
    }
    const reading = readings[readings.length - 1];
    if (reading) {
      for (const disk of reading.disks.slice(0, 4)) {
        shown.push([disk.device, `${number(disk.reads + disk.writes, 3)} /s`, `${(disk.busy * 100).toFixed(0)} % busy, ${number(disk.queue, 2)} in flight`]);
      }
      if (about.devices.length || !about.modelled) {
        shown.push(["CPU", `${(reading.busy * 100).toFixed(0)} %`, `${(reading.steal * 100).toFixed(1)} % stolen`]);
      }
    }
    element("cards").replaceChildren(...shown.map(([label, value, note]) => {
      const card = document.createElement("div");
      card.className = "card";
      for (const [kind, text] of [["label", label], ["value", value], ["with", note]]) {
        const part = document.createElement("span");
        part.className = kind;
        part.textContent = text;
        card.append(part);
      }
      return card;
    }));
  };

  const limitsOf = (key, scale) => about.limits.filter((limit) => limit[key])
    .map((limit) => ({ name: limit.name, rate: limit[key] / scale }));
  const drawAll = () => {
    cards();
    if (intervals.length) {
      element("load").hidden = false;
      draw("chart-iops", lines((load) => load.iops, limitsOf("iops", 1)), { xaxis: timeAxis, yaxis: zeroAxis("I/Os a second") });
      draw("chart-bytes", lines((load) => load.bytes / 1e6, limitsOf("bytes", 1e6)), { xaxis: timeAxis, yaxis: zeroAxis("MB/s") });
      draw("chart-latency", latencies(), {
        xaxis: timeAxis, yaxis: { title: { text: "latency, in ms" }, type: "log", tickformat: "~g", nticks: 4 },
      });
      draw("chart-heat", heat(), {
        xaxis: timeAxis, yaxis: { title: { text: "latency, in ms" }, type: "log", tickformat: "~g", nticks: 4 },
      });
      const credit = credits();
      if (credit.length) {
        element("figure-credit").hidden = false;
        draw("chart-credit", credit, { xaxis: timeAxis, yaxis: { ...zeroAxis("credit left, in %"), range: [0, 105] } });
      }
    }
    if (stands.length) {
      element("served").hidden = false;
      standing();
      draw("chart-used", ofLimits((limit) => limit.used_per_second * 100 / limit.rate_per_second), {
        xaxis: timeAxis, yaxis: zeroAxis("% of the rate"),
      });
      draw("chart-held", ofLimits((limit) => limit.held_ns / 1e9), { xaxis: timeAxis, yaxis: zeroAxis("I/Os") });
      draw("chart-flight", inFlight(), { xaxis: timeAxis, yaxis: zeroAxis("I/Os") });
      draw("chart-late", lateness(), { xaxis: timeAxis, yaxis: zeroAxis("µs") });
    }
    if (readings.length) {
      element("node").hidden = false;
      draw("chart-disk", ofDisks([[(disk) => disk.reads, "reads"], [(disk) => disk.writes, "writes"]]), {
        xaxis: timeAxis, yaxis: zeroAxis("requests a second"),
      });
      draw("chart-disk-time", ofDisks([[(disk) => disk.read_ms, "read"], [(disk) => disk.write_ms, "write"]]), {
        xaxis: timeAxis, yaxis: zeroAxis("ms"),
      });
      draw("chart-disk-use", ofDisks([[(disk) => disk.busy * 100, "% busy"], [(disk) => disk.queue, "in flight"]]), {
        xaxis: timeAxis, yaxis: zeroAxis("% busy; requests"),
      });
      draw("chart-cpu", ofCpu(), { xaxis: timeAxis, yaxis: zeroAxis("% of the time") });
    }
  };

  // Many events may come at once; a page is drawn at most once a second, and not while nobody sees it.
  let waits = false;
  let last = 0;
  const soon = () => {
    if (waits) return;
    waits = true;
    setTimeout(() => {
      waits = false;
      last = Date.now();
      if (!document.hidden) drawAll();
    }, Math.max(0, 1000 - (Date.now() - last)));
  };
  document.addEventListener("visibilitychange", soon);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", soon);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) soon();
    width = innerWidth;
  });

  const state = (text, lost) => {
    const place = element("state");
    place.textContent = missed ? `${text} ${missed} events were missed: the program keeps no more.` : text;
    place.classList.toggle("lost", Boolean(lost));
  };
  let events = 0;
  // The number of the last event, and how many seconds were waited before the last try.
  let had = "";
  let waited = 0;
  let source = null;
  const takers = new Map();
  const on = (kind, take) => takers.set(kind, (event) => {
    events += 1;
    root.dataset.events = String(events);
    had = event.lastEventId || had;
    root.dataset.had = had;
    waited = 0;
    try {
      take(JSON.parse(event.data));
    } catch (error) {
      failed(error);
    }
    soon();
  });
  on("about", (data) => {
    // The program was started anew: what is shown is of another measurement.
    intervals.length = 0;
    readings.length = 0;
    points.clear();
    stands.length = 0;
    element("found").replaceChildren();
    about = data;
    element("limits").hidden = !about.limits.length;
    element("limit-rows").replaceChildren(...about.limits.map((limit) => row(
      [`${limit.name} (${limit.scope})`, number(limit.iops), limit.bytes ? number(limit.bytes / 1e6) : ""], [0],
    )));
    state("Under way.");
  });
  on("interval", (data) => {
    const known = intervals.length ? intervals[intervals.length - 1] : null;
    if (known && known.t === data.t) known.loads.push(...data.loads);
    else intervals.push(data);
    // A sweep begins anew at each point: what is shown is the point under way.
    if (known && data.t < known.t - 5) intervals.splice(0, intervals.length - 1);
    if (intervals.length > SECONDS) intervals.splice(0, intervals.length - SECONDS);
  });
  on("node", (data) => {
    readings.push(data);
    if (readings.length > SECONDS) readings.shift();
  });
  on("served", (data) => {
    stands.push(data);
    if (stands.length > SECONDS) stands.shift();
  });
  on("disturbance", (data) => {
    element("disturbances").hidden = false;
    const found = element("found");
    found.prepend(row([String(data.second), `${data.job}, ${data.op}`, number(data.longest, 3), number(data.usual, 3), data.cause], [1, 4]));
    while (found.children.length > 200) found.lastChild.remove();
  });
  on("point", (data) => {
    element("sweep").hidden = false;
    points.set(data.name, data);
    element("sweep-done").textContent = `${points.size} points of ${about.sweep_steps || "?"} measurements are known.`;
    const sorted = Array.from(points.values()).sort((a, b) => (a.name < b.name ? -1 : 1));
    element("points").replaceChildren(...sorted.map((point) => row(
      [point.name, number(point.iops), number(point.bytes / 1e6), number(point.p99, 3)], [0],
    )));
  });
  on("gap", (data) => {
    missed += data.missing;
    state("Under way.");
  });
  on("end", () => {
    ended = true;
    state("Ended.");
    root.dataset.ended = "1";
    source.close();
  });
  // A browser tries again by itself when a connection breaks, and never again once the answer was none of events: as many watch as may.
  // Then a new one begins later, where this one was.
  const connect = () => {
    source = new EventSource(had ? `/events?after=${had}` : "/events");
    for (const [kind, take] of takers) source.addEventListener(kind, take);
    source.addEventListener("open", () => state("Under way."));
    source.addEventListener("error", () => {
      if (ended) return;
      if (source.readyState !== EventSource.CLOSED) {
        state("The connection is lost: what is shown is what was known. Trying again …", true);
        return;
      }
      waited = Math.min(Math.max(2, waited * 2), 30);
      state(`The program answers without events: as many watch as may, or it has begun to end. Trying again in ${waited} s …`, true);
      setTimeout(connect, waited * 1000);
    });
  };
  connect();
})();
