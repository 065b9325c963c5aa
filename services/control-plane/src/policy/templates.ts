import { GovernedChange, type PolicyBundle } from '@countersign/contracts/governance-kernel';

type Template = { name: string; summary: string; text: string };

/** Drafts to start from, based on the active bundle. A template keeps the other rules of the bundle. */
export function templatesOf(bundle: PolicyBundle): Template[] {
  return [
    { name: 'in-force', summary: 'The rules in force, as a starting point.', text: textOf(bundle) },
    {
      name: 'two-person',
      summary: 'The rules in force. In addition, a second person must approve each governed change by a person.',
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
    // The rule covers people only. Other callers are decided as before.
    match: { action: GovernedChange.options, principal: ['usr_*'] },
    reason: 'A governed change by a person needs the approval of a second person.',
  };
  return {
    ...bundle,
    rules: [...bundle.rules.filter(({ id }) => id !== secondPerson), asks],
    // Tests of governed changes may now fail, so they are dropped unless they expect a denial. A denied change stays
    // denied.
    tests: bundle.tests.filter((test) => !isChange(test) || test.expect.verdict === 'DENY'),
  };
}

/** A bundle as the text of a draft. */
export function textOf(bundle: PolicyBundle): string {
  return `${JSON.stringify(bundle, null, 2)}\n`;
}
