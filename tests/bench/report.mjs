const arrow = { atLeast: '≥', atMost: '≤' };

/** The ratios, their goals and what stands between them, as lines of text. */
export function tableOf(ratios) {
  const rows = ratios.map(({ name, value, bound, goal, reached, boundBy }) => [
    name,
    value.toFixed(2),
    `${arrow[bound]} ${goal}`,
    reached ? 'reached' : 'NOT REACHED',
    boundBy,
  ]);
  return columns([['ratio', 'value', 'goal', '', 'bound by'], ...rows]);
}

/** What was measured, medians of the rounds. */
export function measurementsOf(medians) {
  const rows = Object.entries(medians).map(([name, measured]) => [
    name,
    Math.round(measured.perSecond).toLocaleString('en'),
    measured.p50Ms.toFixed(2),
    measured.p99Ms.toFixed(2),
    measured.cpuMicros === null ? '–' : String(Math.round(measured.cpuMicros)),
  ]);
  return columns([['measured', 'per second', 'p50 ms', 'p99 ms', 'CPU µs each'], ...rows]);
}

function columns(rows) {
  const widths = rows[0].map((_, index) => Math.max(...rows.map((row) => row[index].length)));
  const lines = rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index]))
      .join('  ')
      .trimEnd(),
  );
  return lines.join('\n');
}
