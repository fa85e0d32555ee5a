"use strict";
// Draws a run: workers as lanes, jobs as bars, steals as arrows. Times are in nanoseconds.
(() => {
  const AXIS = 26;      // The height of the time axis, in pixels.
  const NAME = 18;      // The height of a worker's name above its lane.
  const GAP = 8;        // The gap below a lane.
  const SHORTEST = 20;  // The shortest visible period, in nanoseconds.

  // Formats a time, in the unit that suits it or the time `suits`.
  const time = (nanoseconds, suits = nanoseconds) => {
    const [unit, name] = suits >= 2e9 ? [1e9, "s"] : suits >= 2e6 ? [1e6, "ms"] : suits >= 2e3 ? [1e3, "µs"] : [1, "ns"];
    return `${Number((nanoseconds / unit).toPrecision(6))} ${name}`;
  };

  // Returns rows of bars, one for each lane and depth.
  // The bars of a row are in order and do not overlap.
  const rowsOf = (numbers) => numbers.map((flat) => {
    const rows = [];
    let start = 0;
    for (let at = 0; at < flat.length; at += 4) {
      start += flat[at + 1];
      const depth = flat[at + 3];
      while (rows.length <= depth) rows.push({ kinds: [], starts: [], ends: [] });
      const row = rows[depth];
      row.kinds.push(flat[at]);
      row.starts.push(start);
      row.ends.push(start + flat[at + 2]);
    }
    return rows.length ? rows : [{ kinds: [], starts: [], ends: [] }];
  });

  // Returns the first index whose value is above the limit.
  const above = (values, limit) => {
    let [low, high] = [0, values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] > limit) high = middle; else low = middle + 1;
    }
    return low;
  };

  const start = (canvas) => {
    const figure = canvas.closest("figure");
    const stage = canvas.parentElement;
    const tip = stage.querySelector(".tip");
    const selectionText = figure.querySelector(".chosen");
    const data = JSON.parse(document.getElementById(canvas.dataset.shows).textContent);
    const series = canvas.dataset.colours.split(" ");
    const lanes = rowsOf(data.lanes);
    const steals = [];
    for (let at = 0; at < data.steals.length; at += 3) {
      steals.push({ victim: data.steals[at], thief: data.steals[at + 1], at: data.steals[at + 2] });
    }
    steals.sort((one, other) => one.at - other.at);
    const stealTimes = steals.map((steal) => steal.at);
    let end = 1;
    for (const rows of lanes) for (const row of rows) if (row.ends.length) end = Math.max(end, row.ends[row.ends.length - 1]);

    // All rows from top to bottom, with their positions.
    const rows = [];
    const total = lanes.reduce((sum, lane) => sum + lane.length, 0);
    const thick = Math.max(4, Math.min(18, Math.floor(480 / total)));
    const tops = [];
    let height = AXIS;
    lanes.forEach((lane, worker) => {
      tops.push(height);
      height += NAME;
      lane.forEach((row, depth) => { rows.push({ ...row, worker, depth, top: height }); height += thick; });
      height += GAP;
    });
    const bottoms = tops.map((_, worker) => (worker + 1 < tops.length ? tops[worker + 1] : height) - GAP);

    let width = 1;
    let view = { from: 0, to: end };
    let selected = null;  // { row, place } of a bar, or { steal }
    let colours = {};
    let isScheduled = false;

    const x = (nanoseconds) => ((nanoseconds - view.from) / (view.to - view.from)) * width;
    const at = (pixel) => view.from + (pixel / width) * (view.to - view.from);

    const setView = (from, to) => {
      const span = Math.min(end, Math.max(SHORTEST, to - from));
      const middle = (from + to) / 2;
      const left = Math.min(Math.max(0, middle - span / 2), end - span);
      view = { from: left, to: left + span };
      redraw();
    };
    const zoom = (factor, around = (view.from + view.to) / 2) =>
      setView(around - (around - view.from) * factor, around + (view.to - around) * factor);
    const move = (by) => setView(view.from + by, view.to + by);

    const readColours = () => {
      const style = getComputedStyle(canvas);
      const of = (name) => style.getPropertyValue(name).trim();
      colours = { kinds: series.map((number) => of(`--series-${number}`)), text: of("--text"), faint: of("--faint"), grid: of("--grid"), paper: of("--paper") };
    };

    const paintRow = (context, row) => {
      let place = above(row.ends, view.from);
      while (place < row.starts.length && row.starts[place] < view.to) {
        const left = Math.max(-2, x(row.starts[place]));
        const right = Math.min(width + 2, x(row.ends[place]));
        const wide = Math.max(1, right - left);
        // If there is room, a gap separates a bar from its neighbour.
        const bar = [left, row.top, wide > 3 ? wide - 1 : wide, thick - 1];
        context.fillStyle = colours.kinds[row.kinds[place]];
        context.fillRect(...bar);
        if (row.depth % 2) {
          // Every other row is mixed with the text colour, which increases its contrast.
          context.globalAlpha = 0.22;
          context.fillStyle = colours.text;
          context.fillRect(...bar);
          context.globalAlpha = 1;
        }
        // Bars that end within the same pixel are invisible.
        const beyond = above(row.ends, at(left + 1));
        place = Math.max(place + 1, wide > 1 ? place + 1 : beyond);
      }
    };

    const paintSteal = (context, steal) => {
      const pixel = x(steal.at);
      const down = steal.thief > steal.victim;
      const from = down ? bottoms[steal.victim] : tops[steal.victim] + NAME;
      const to = down ? tops[steal.thief] + NAME - 1 : bottoms[steal.thief];
      const bend = Math.min(24, Math.abs(to - from) / 2 + 6);
      context.beginPath();
      context.moveTo(pixel - bend * 0.6, from);
      context.quadraticCurveTo(pixel, from, pixel, to);
      context.stroke();
      const back = down ? -6 : 6;
      context.beginPath();
      context.moveTo(pixel, to);
      context.lineTo(pixel - 3.5, to + back);
      context.lineTo(pixel + 3.5, to + back);
      context.fill();
    };

    const paintSteals = (context) => {
      const first = above(stealTimes, view.from);
      const last = above(stealTimes, view.to);
      const apart = last - first > 300 ? 4 : 0;
      let before = -Infinity;
      context.strokeStyle = context.fillStyle = colours.text;
      context.lineWidth = 1;
      context.globalAlpha = last - first > 60 ? 0.55 : 0.9;
      for (let place = first; place < last; place += 1) {
        const pixel = x(steals[place].at);
        if (pixel - before < apart) continue;
        before = pixel;
        paintSteal(context, steals[place]);
      }
      context.globalAlpha = 1;
      if (selected && selected.steal) {
        context.lineWidth = 3;
        paintSteal(context, selected.steal);
      }
    };

    const paintAxis = (context) => {
      const rough = (view.to - view.from) / Math.max(2, width / 110);
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((times) => times * power).find((round) => round >= rough);
      context.font = "12px system-ui, sans-serif";
      context.textBaseline = "middle";
      for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) {
        const pixel = x(tick);
        context.fillStyle = colours.grid;
        context.fillRect(pixel, AXIS - 4, 1, height - AXIS);
        context.fillStyle = colours.faint;
        context.textAlign = pixel < 24 ? "left" : pixel > width - 30 ? "right" : "center";
        context.fillText(time(tick, view.to), pixel, 11);
      }
      context.textAlign = "left";
    };

    const paint = () => {
      isScheduled = false;
      const scale = devicePixelRatio || 1;
      width = Math.max(1, stage.clientWidth);
      canvas.style.height = `${height}px`;
      if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
      }
      const context = canvas.getContext("2d");
      context.setTransform(scale, 0, 0, scale, 0, 0);
      context.fillStyle = colours.paper;
      context.fillRect(0, 0, width, height);
      paintAxis(context);
      for (const row of rows) paintRow(context, row);
      context.font = "600 12px system-ui, sans-serif";
      tops.forEach((top, worker) => {
        const name = `worker ${worker}`;
        context.fillStyle = colours.paper;
        context.fillRect(0, top, context.measureText(name).width + 8, NAME - 1);
        context.fillStyle = colours.text;
        context.fillText(name, 2, top + NAME / 2);
      });
      paintSteals(context);
      if (selected && selected.row) {
        const { row, place } = selected;
        context.strokeStyle = colours.text;
        context.lineWidth = 2;
        const left = Math.max(-4, x(row.starts[place]));
        context.strokeRect(left, row.top - 1, Math.max(2, Math.min(width + 4, x(row.ends[place])) - left), thick + 1);
      }
    };
    const redraw = () => {
      if (!isScheduled) {
        isScheduled = true;
        requestAnimationFrame(paint);
      }
    };

    const describe = ({ row, place, steal }) => steal
      ? `Worker ${steal.thief} stole from worker ${steal.victim} at ${time(steal.at)}.`
      : `Worker ${row.worker}, ${data.kinds[row.kinds[place]]}: ${time(row.ends[place] - row.starts[place])} long, `
        + `from ${time(row.starts[place])} to ${time(row.ends[place])}, ${row.depth ? `nested in ${row.depth} other${row.depth > 1 ? "s" : ""}` : "not nested"}.`;

    // Returns the nearest bar within three pixels: many bars are thinner than one.
    const find = (pixel, y) => {
      const row = rows.find((one) => y >= one.top && y < one.top + thick);
      if (!row || !row.starts.length) return null;
      const when = at(pixel);
      const after = Math.min(above(row.ends, when), row.starts.length - 1);
      let best = null;
      for (const place of [after - 1, after]) {
        if (place < 0) continue;
        const off = Math.max(0, x(row.starts[place]) - pixel, pixel - x(row.ends[place]));
        if (off <= 3 && (!best || off < best.off)) best = { row, place, off };
      }
      return best;
    };

    const select = (what) => {
      selected = what;
      selectionText.textContent = what ? describe(what) : "Nothing is selected.";
      if (what) {
        const [from, to] = what.steal ? [what.steal.at, what.steal.at] : [what.row.starts[what.place], what.row.ends[what.place]];
        const span = view.to - view.from;
        if (to < view.from || from > view.to) setView((from + to) / 2 - span / 2, (from + to) / 2 + span / 2);
      }
      redraw();
    };

    // `changeBar` selects the next bar of the row.
    // `changeRow` selects the bar at the same time in another row.
    const changeBar = (by) => {
      if (!selected || !selected.row) {
        const row = rows.find((one) => above(one.ends, view.from) < one.starts.length);
        if (row) select({ row, place: above(row.ends, view.from) });
        return;
      }
      const place = selected.place + by;
      if (place >= 0 && place < selected.row.starts.length) select({ row: selected.row, place });
    };
    const changeRow = (by) => {
      if (!selected || !selected.row) { changeBar(1); return; }
      const when = (selected.row.starts[selected.place] + selected.row.ends[selected.place]) / 2;
      let next = rows.indexOf(selected.row) + by;
      while (rows[next] && !rows[next].starts.length) next += by;
      if (!rows[next]) return;
      select({ row: rows[next], place: Math.min(above(rows[next].ends, when), rows[next].starts.length - 1) });
    };
    const nextSteal = () => {
      if (!steals.length) return;
      const from = selected && selected.steal ? selected.steal.at : view.from;
      select({ steal: steals[above(stealTimes, from) % steals.length] });
    };

    const keys = {
      ArrowLeft: () => move((view.from - view.to) / 8), ArrowRight: () => move((view.to - view.from) / 8),
      ArrowUp: () => changeRow(-1), ArrowDown: () => changeRow(1),
      "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), "−": () => zoom(1 / 0.6),
      0: () => setView(0, end), Home: () => setView(0, view.to - view.from), End: () => setView(end - (view.to - view.from), end),
      n: () => changeBar(1), p: () => changeBar(-1), s: nextSteal, Escape: () => (selected ? select(null) : canvas.blur()),
    };
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    const buttons = { in: () => zoom(0.5), out: () => zoom(2), whole: () => setView(0, end) };
    for (const button of figure.querySelectorAll("[data-does]")) {
      button.addEventListener("click", () => buttons[button.dataset.does]());
    }

    // The wheel zooms while something is selected, or with Ctrl, which browsers report for a pinch
    // on a touchpad. Otherwise it scrolls the page, also after a drag, a click beside all bars, or
    // Escape.
    canvas.addEventListener("wheel", (event) => {
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        move((event.deltaX / width) * (view.to - view.from));
      } else if (event.ctrlKey || (selected && document.activeElement === canvas)) {
        event.preventDefault();
        zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * (event.ctrlKey ? 0.01 : 0.002)))), at(event.offsetX));
      }
    }, { passive: false });

    const pointers = new Map();
    let moved = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, event.offsetX);
      canvas.classList.add("moving");
      tip.hidden = true;
      moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!pointers.has(event.pointerId)) {
        const found = find(event.offsetX, event.offsetY);
        tip.hidden = !found;
        if (found) {
          tip.textContent = describe(found);
          tip.style.top = `${found.row.top + thick + 6}px`;
          tip.style.left = `${Math.max(0, Math.min(event.offsetX, width - tip.offsetWidth))}px`;
        }
        return;
      }
      const before = pointers.get(event.pointerId);
      const other = [...pointers].find(([id]) => id !== event.pointerId);
      pointers.set(event.pointerId, event.offsetX);
      moved += Math.abs(event.offsetX - before);
      if (other) {
        const [was, is] = [Math.abs(before - other[1]), Math.abs(event.offsetX - other[1])];
        if (was > 8 && is > 8) zoom(was / is, at((event.offsetX + other[1]) / 2));
      } else {
        move(((before - event.offsetX) / width) * (view.to - view.from));
      }
    });
    const release = (event) => {
      if (!pointers.delete(event.pointerId)) return;
      canvas.classList.toggle("moving", pointers.size > 0);
      if (event.type === "pointerup" && moved < 4) select(find(event.offsetX, event.offsetY));
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });

    document.addEventListener("filch-theme", () => { readColours(); redraw(); });
    new ResizeObserver(redraw).observe(stage);
    readColours();
    redraw();
  };

  for (const canvas of document.querySelectorAll("canvas[data-shows]")) start(canvas);
})();
