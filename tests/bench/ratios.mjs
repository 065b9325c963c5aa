/** A server whose process is that busy is what bounds the rate; below it, something else is. */
const busyShare = 0.9;

const ratios = [
  {
    name: 'evaluate_vs_express_echo_c64',
    bound: 'atLeast',
    goal: 1.5,
    subject: 'evaluate',
    floor: 'expressEcho',
    of: 'perSecond',
  },
  {
    name: 'evaluate_vs_node_echo_c64',
    bound: 'atLeast',
    goal: 0.45,
    subject: 'evaluate',
    floor: 'nodeEcho',
    of: 'perSecond',
  },
  {
    name: 'evaluate_p50_ms_c1_over_commit_p50_ms',
    bound: 'atMost',
    goal: 2.5,
    subject: 'evaluateAlone',
    floor: 'commit',
    of: 'p50Ms',
  },
  { name: 'chat_vs_direct_c64', bound: 'atLeast', goal: 0.2, subject: 'chat', floor: 'chatDirect', of: 'perSecond' },
  {
    name: 'mcp_call_vs_direct_sdk_c16',
    bound: 'atLeast',
    goal: 0.5,
    subject: 'mcp',
    floor: 'mcpDirect',
    of: 'perSecond',
  },
];

/** Subject over floor, for every ratio whose two sides were measured. */
export function ratiosOf(medians) {
  return ratios
    .filter(({ subject, floor }) => subject in medians && floor in medians)
    .map(({ subject, floor, of, ...ratio }) => {
      const value = medians[subject][of] / medians[floor][of];
      const reached = ratio.bound === 'atLeast' ? value >= ratio.goal : value <= ratio.goal;
      return { ...ratio, value, reached, boundBy: boundBy(medians[subject]) };
    });
}

function boundBy({ perSecond, cpuMicros, generatorBusy }) {
  if (cpuMicros === null) return 'not known on this platform';
  const share = (perSecond * cpuMicros) / 1e6;
  const percent = (value) => `${Math.round(value * 100)} %`;
  if (share >= busyShare) return `the kernel's CPU: ${percent(share)} of one core`;
  if (generatorBusy >= busyShare) return `the load generator: ${percent(generatorBusy)} of one core`;
  return `waiting (database, other processes on these cores): kernel ${percent(share)} of one core`;
}
