// A product's prices over time: a step from each price to the next, a line for each currency.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("price-chart");
  const source = document.getElementById("price-chart-data");
  if (!box || !source) return;
  const { times, lines } = JSON.parse(source.textContent);
  const colours = ["#10966e", "#3b82f6", "#f59e0b", "#ec4899", "#8b5cf6"];
  const HEIGHT_WITHOUT_LEGEND = 300;
  const DAY = 86400;
  const span = times[times.length - 1] - times[0];
  let chart;

  function timeShown(seconds, withTime, withDate = !withTime) {
    const [date, time] = new Date(seconds * 1000).toISOString().split("T");
    return [withDate ? date : "", withTime ? time.slice(0, 5) : ""].join(" ").trim();
  }

  function options() {
    const dark = document.documentElement.classList.contains("dark");
    const ink = dark ? "#d1d5db" : "#374151";
    const grid = { stroke: dark ? "#374151" : "#e5e7eb", width: 1 };
    const axis = { stroke: ink, grid, ticks: grid };
    const timeAxis = { ...axis, space: 90, values: (_, ticks) => ticks.map((tick) => timeShown(tick, span < 2 * DAY)) };
    return {
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      width: box.clientWidth,
      height: HEIGHT_WITHOUT_LEGEND,
      scales: { y: { range: (_, low, high) => padded(low, high) } },
      axes: [timeAxis, { ...axis, size: 70 }],
      series: [{ label: "Time (UTC)", value: (_, tick) => (tick === null ? "–" : timeShown(tick, true, true)) }, ...lines.map((line, at) => ({
        label: line.currency,
        stroke: colours[at % colours.length],
        width: 2,
        spanGaps: lines.length === 1,
        paths: uPlot.paths.stepped({ align: 1 }),
        points: { show: times.length < 100, size: 6 },
        value: (_, price) => (price === null ? "–" : `${price} ${line.currency}`),
      }))],
    };
  }

  function padded(low, high) {
    const room = (high - low) * 0.1 || Math.abs(high) * 0.1 || 1;
    return [Math.max(0, low - room), high + room];
  }

  function draw() {
    chart?.destroy();
    chart = new uPlot(options(), [times, ...lines.map((line) => line.prices)], box);
  }

  draw();
  new ResizeObserver(() => {
    if (box.clientWidth !== chart.width) chart.setSize({ width: box.clientWidth, height: HEIGHT_WITHOUT_LEGEND });
  }).observe(box);
  new MutationObserver(draw).observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
});
