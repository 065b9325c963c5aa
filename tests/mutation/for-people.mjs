// What is written for people is not mutated: nobody matches on text (STYLE.md, Errors), so no test may pin it.
// Two things are left out, and nothing else: the text of an error, never its code, and the statements that log.

const text = new Set(['StringLiteral', 'TemplateLiteral']);
const levels = new Set(['debug', 'info', 'warn', 'error']);
/** Errors of the language have no code: their text comes first. */
const withoutCode = new Set(['Error', 'RangeError', 'TypeError', 'SyntaxError']);

export const strykerPlugins = [{ kind: 'Ignore', name: 'for-people', value: { shouldIgnore } }];

function shouldIgnore(path) {
  if (isTextOfError(path)) return 'the text of an error';
  if (isLogging(path)) return 'a log statement';
  return undefined;
}

function isTextOfError({ node, parent, listKey, key }) {
  if (!text.has(node.type) || parent?.type !== 'NewExpression' || listKey !== 'arguments') return false;
  const { name = '' } = parent.callee;
  return name.endsWith('Error') && (withoutCode.has(name) || key > 0);
}

function isLogging({ node }) {
  if (node.type !== 'ExpressionStatement' || node.expression.type !== 'CallExpression') return false;
  const { callee } = node.expression;
  return callee.type === 'MemberExpression' && levels.has(callee.property.name) && endsInLog(callee.object);
}

function endsInLog(node) {
  return node.name === 'log' || (node.type === 'MemberExpression' && node.property.name === 'log');
}
