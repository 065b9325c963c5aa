import { GovernedChange, type PolicyBundle } from '@countersign/contracts/governance-kernel';

type Template = { name: string; summary: string; text: string };

/**
 * Drafts to begin with, made of the bundle in force: without further edits they change only what the template changes.
 */
export function templatesOf(bundle: PolicyBundle): Template[] {
  return [
    { name: 'in-force', summary: 'The rules in force, to be changed.', text: textOf(bundle) },
    {
      name: 'two-person',
      summary: 'The rules in force, and a second person for every change of what governs agents.',
      text: textOf(withTwoPeople(bundle)),
    },
  ];
}

const secondPerson = 'two-people-change-what-governs';

function withTwoPeople(bundle: PolicyBundle): PolicyBundle {
  const isChange = ({ intent }: PolicyBundle['tests'][number]) => GovernedChange.safeParse(intent.action).success;
  const asks: PolicyBundle['rules'][number] = {
    id: secondPerson,
    effect: 'escalate',
    // Callers that are no people of the workspace are denied as before.
    match: { action: GovernedChange.options, principal: ['usr_*'] },
    reason: 'Changes to the rules for agents need two people.',
  };
  return {
    ...bundle,
    rules: [...bundle.rules.filter(({ id }) => id !== secondPerson), asks],
    // A call that needs approval now was allowed before; a denied call still is.
    tests: bundle.tests.filter((test) => !isChange(test) || test.expect.verdict === 'DENY'),
  };
}

function textOf(bundle: PolicyBundle): string {
  return `${JSON.stringify(bundle, null, 2)}\n`;
}
