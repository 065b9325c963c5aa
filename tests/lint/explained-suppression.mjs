/** The minimum length of a reason, in characters. A shorter text is only a word. */
const reasonLengthMin = 12;

/**
 * Every `eslint-disable…` comment names its rules and states the reason after `--`, on the same line.
 * @type {import('eslint').Rule.RuleModule}
 */
export const explainedSuppression = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      reason: 'Say why this rule does not hold here: `eslint-disable-next-line <rule> -- <reason>`.',
      rules: 'Name the rules that are suppressed.',
    },
  },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) check(context, comment);
      },
    };
  },
};

function check(context, comment) {
  const directive = /^\s*eslint-disable(?:-next-line|-line)?(?<rest>[\s\S]*)$/.exec(comment.value);
  if (!directive) return;
  const [rules = '', reason = ''] = directive.groups.rest.split(/\s--\s/);
  if (rules.trim() === '') context.report({ loc: comment.loc, messageId: 'rules' });
  if (reason.trim().length < reasonLengthMin) context.report({ loc: comment.loc, messageId: 'reason' });
}
