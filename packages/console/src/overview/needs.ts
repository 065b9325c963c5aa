import type { Snapshot } from '@countersign/contracts/control-plane';

/** The control plane counts up to these numbers. */
const pendingMax = 1_000;
const forPersonMax = 200;

/** Something that a person should look at, the worst first. `isForPerson`: nothing goes on without this person. */
export type Need = {
  kind: 'denying' | 'unconfirmed' | 'approval' | 'other_approval';
  text: string;
  page: '/policy' | '/incidents' | '/inbox';
  act: string;
  isForPerson: boolean;
};

/** The items of a workspace's snapshot that need its reader. */
export function needsOf({ boundary, counts }: Snapshot): Need[] {
  const needs: Need[] = [];
  if (boundary?.status === 'closed') needs.push(denying(boundary));
  const { unconfirmed_commands: unconfirmed } = counts;
  if (unconfirmed > 0)
    needs.push({
      kind: 'unconfirmed',
      text: `${unconfirmed === 1 ? '1 stop is' : `${unconfirmed} stops are`} not confirmed by the kernel yet`,
      ...{ page: '/incidents', act: 'See stops', isForPerson: true },
    });
  if (boundary === null) return needs;
  const { pending_approvals: all, waiting_for_you: mine } = boundary.counts;
  if (mine > 0)
    needs.push({
      kind: 'approval',
      text: `${callsThatWait(mine, forPersonMax)} for you`,
      ...{ page: '/inbox', act: 'Review', isForPerson: true },
    });
  if (all > mine)
    needs.push({
      kind: 'other_approval',
      text: `${callsThatWait(all - mine, mine > 0 ? pendingMax - forPersonMax : pendingMax)} for other people`,
      ...{ page: '/inbox', act: 'See calls', isForPerson: false },
    });
  return needs;
}

function denying({ policy }: NonNullable<Snapshot['boundary']>): Need {
  const common = { kind: 'denying', isForPerson: true } as const;
  if (policy.state === 'fresh')
    return { ...common, text: 'Every call is denied by a freeze', page: '/incidents', act: 'See stops' };
  return { ...common, text: policyFaults[policy.state], page: '/policy', act: 'Open policy' };
}

type PolicyFault = Exclude<NonNullable<Snapshot['boundary']>['policy']['state'], 'fresh'>;

const policyFaults: Readonly<Record<PolicyFault, string>> = {
  missing: 'No policy is active, so every call is denied',
  stale: 'The policy was not confirmed in time, so every call is denied',
  unsigned: 'The signature of the policy is wrong, so every call is denied',
};

function callsThatWait(count: number, countedMax: number): string {
  if (count === 1) return '1 call waits';
  return count >= countedMax ? `${count.toLocaleString('en')} calls or more wait` : `${count} calls wait`;
}
