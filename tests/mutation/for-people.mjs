// Texts for people are not mutated. No code compares them (STYLE.md, Errors), so no test may pin them. Exactly two
// things are left out: the text of an error at the place where the error is thrown, and statements that log. Error
// codes are mutated.

const levels = new Set(['debug', 'info', 'warn', 'error']);

export const strykerPlugins = [{ kind: 'Ignore', name: 'for-people', value: { shouldIgnore } }];

function shouldIgnore(path) {
  if (isProse(path.node) && makesError(path)) return 'the text of an error';
  return isLogging(path.node) ? 'a log statement' : undefined;
}

/** Whether a literal is prose. Codes contain no white space. */
function isProse(node) {
  if (node.type === 'StringLiteral') return /\s/.test(node.value);
  return node.type === 'TemplateLiteral' && node.quasis.some(({ value }) => /\s/.test(value.raw));
}

/** An argument of `new …Error(…)`, or of the call in `throw malformed(…)`. */
function makesError({ listKey, parent, parentPath }) {
  if (listKey !== 'arguments') return false;
  if (parent.type === 'NewExpression') return /Error$/.test(parent.callee.name ?? '');
  return parent.type === 'CallExpression' && parentPath.parent.type === 'ThrowStatement';
}

function isLogging(node) {
  if (node.type !== 'ExpressionStatement' || node.expression.type !== 'CallExpression') return false;
  const { callee } = node.expression;
  return callee.type === 'MemberExpression' && levels.has(callee.property.name) && endsInLog(callee.object);
}

function endsInLog(node) {
  return node.name === 'log' || (node.type === 'MemberExpression' && node.property.name === 'log');
}
