import type { Snapshot } from '@countersign/contracts/control-plane';
import { waitingCounts } from '../live/waiting-counts.ts';

/** Something that a person should look at. `isForPerson`: it waits for this person. */
export type Need = {
  kind: 'denying' | 'unconfirmed' | 'approval' | 'other_approval';
  text: string;
  /** The number of calls or stops. */
  count: number;
  page: '/policy' | '/incidents' | '/inbox';
  /** The part of the page, as its address contains it. */
  search?: { tab?: 'others' };
  act: string;
  isForPerson: boolean;
};

/** The items of a workspace's snapshot that need its reader, the worst first. */
export function needsOf(snapshot: Snapshot): Need[] {
  const { boundary, counts } = snapshot;
  const needs: Need[] = [];
  if (boundary?.status === 'closed') needs.push(denying(boundary));
  const { unconfirmed_commands: unconfirmed } = counts;
  if (unconfirmed > 0)
    needs.push({
      kind: 'unconfirmed',
      text: `${unconfirmed === 1 ? '1 stop is' : `${unconfirmed} stops are`} not confirmed by the kernel yet`,
      ...{ count: unconfirmed, page: '/incidents', act: 'See stops', isForPerson: true },
    });
  const waiting = waitingCounts(snapshot);
  if (waiting === null) return needs;
  const { mine, others } = waiting;
  if (mine.count > 0)
    needs.push({
      kind: 'approval',
      text: `${callsThatWait(mine)} for you`,
      ...{ count: mine.count, page: '/inbox', act: 'Review', isForPerson: true },
    });
  if (others.count > 0)
    needs.push({
      kind: 'other_approval',
      text: `${callsThatWait(others)} for other people`,
      ...{ count: others.count, page: '/inbox', search: { tab: 'others' }, act: 'See calls', isForPerson: false },
    });
  return needs;
}

/** The number of calls and stops that need the person. */
export function countForPerson(snapshot: Snapshot): number {
  return needsOf(snapshot).reduce((sum, { isForPerson, count }) => sum + (isForPerson ? count : 0), 0);
}

function denying({ policy }: NonNullable<Snapshot['boundary']>): Need {
  const common = { kind: 'denying', count: 1, isForPerson: true } as const;
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

function callsThatWait({ count, max }: { count: number; max: number }): string {
  if (count === 1) return '1 call waits';
  return count >= max ? `${count.toLocaleString('en')} calls or more wait` : `${count} calls wait`;
}
