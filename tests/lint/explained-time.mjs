/** The minimum length of a reason, in characters. A shorter text is only a word. */
const reasonLengthMin = 8;
const timers = new Set(['delay', 'setTimeout', 'setInterval']);
const comparisons = new Set(['<', '<=', '>', '>=']);

/**
 * A test that waits for a time or measures one depends on the speed of the machine. A necessary timer or clock read
 * states its reason in a comment on its line or on the line above. `Date.now()` as a value is fine. It measures only
 * where it is compared or passed to `expect`.
 * @type {import('eslint').Rule.RuleModule}
 */
export const explainedTime = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      reason:
        'Wait for a state (`until`), or move a clock. If a timer or a measured time is necessary, state the reason in a comment on this line.',
    },
  },
  create(context) {
    return {
      CallExpression(node) {
        if (isOfTime(node) && !isExplained(context.sourceCode, node)) context.report({ node, messageId: 'reason' });
      },
    };
  },
};

function isOfTime(node) {
  const { callee } = node;
  if (callee.type === 'Identifier') return timers.has(callee.name) || callee.name === 'monitorEventLoopDelay';
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return false;
  const { name } = callee.property;
  const owner = callee.object.type === 'Identifier' ? callee.object.name : '';
  if (owner === 'globalThis') return timers.has(name);
  if (name !== 'now') return false;
  return owner === 'performance' || (owner === 'Date' && isJudged(node));
}

/** Whether the value is compared, or passed to `expect`, within its own function. */
function isJudged(node) {
  for (let at = node.parent; at && !/Function|Statement|Declaration/.test(at.type); at = at.parent) {
    if (at.type === 'BinaryExpression' && comparisons.has(at.operator)) return true;
    if (at.type === 'CallExpression' && at.callee.type === 'Identifier' && at.callee.name === 'expect') return true;
  }
  return false;
}

function isExplained(sourceCode, node) {
  const { line } = node.loc.start;
  return sourceCode
    .getAllComments()
    .some(({ value, loc }) => [line, line - 1].includes(loc.end.line) && value.trim().length >= reasonLengthMin);
}
