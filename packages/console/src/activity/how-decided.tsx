import { IconBan, IconCircleCheck, IconCircleDashed, IconUserQuestion } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { GateName } from '@countersign/contracts';
import type { BoundaryRecord, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { Loaded } from '../parts/loaded.tsx';
import { reasonSays } from '../parts/reason-says.ts';
import { Shown } from '../parts/shown.tsx';

const gateWords: Readonly<Record<GateName, string>> = {
  request: 'Request',
  fence: 'Stops',
  policy: 'Policy',
  identity: 'Agent',
  relationship: 'Relations',
  registry: 'Tool registry',
  arguments: 'Arguments',
  scopes: 'Permissions',
  sandbox: 'Sandbox',
  egress: 'Destination',
  provenance: 'Call path',
  rules: 'Rules',
  budget: 'Budget',
  approval: 'Approval',
};

type Gates = BoundaryRecord['gates'];
const namesOf = (gates: Gates) => gates.map(({ gate }) => gateWords[gate]).join(', ');

/** The check that decided, and the checks that passed before it. */
export function HowDecided({ record }: { record: UseQueryResult<BoundaryRecord | null> }) {
  return (
    <section aria-label="How it was decided">
      <h2>How it was decided</h2>
      <Loaded query={record}>
        {(kept) => (kept === null ? <p className="quiet">No record is kept.</p> : <Trail record={kept} />)}
      </Loaded>
    </section>
  );
}

function Trail({ record }: { record: BoundaryRecord }) {
  const { gates, matched_rules: rules } = record;
  const passed = gates.filter(({ outcome }) => outcome === 'pass');
  const decided = gates.find(({ outcome }) => outcome === 'deny' || outcome === 'escalate');
  const later = gates.filter(({ outcome }) => outcome === 'not_reached');
  return (
    <ol className="trail boxed">
      {passed.length > 0 && (
        <li>
          <IconCircleCheck className="passed" size={16} aria-hidden="true" />
          {namesOf(passed)}
          <p className="quiet">{passed.length === 1 ? '1 check passed' : `${passed.length} checks passed`}</p>
        </li>
      )}
      {decided !== undefined && (
        <li>
          {decided.outcome === 'deny' ? (
            <IconBan className="denied" size={16} aria-hidden="true" />
          ) : (
            <IconUserQuestion className="asked" size={16} aria-hidden="true" />
          )}
          <strong>
            {gateWords[decided.gate]}: {reasonSays(record.reason_code)}
          </strong>
          {decided.detail !== undefined && (
            <p className="quiet">
              <Shown text={decided.detail} />
            </p>
          )}
        </li>
      )}
      {later.length > 0 && (
        <li className="later">
          <IconCircleDashed className="later" size={16} aria-hidden="true" />
          {later.length === 1 ? '1 later check not reached' : `${later.length} later checks not reached`}
        </li>
      )}
      {rules.length > 0 && (
        <li>
          Matched rules: <Shown text={rules.join(', ')} />
        </li>
      )}
    </ol>
  );
}

type Sentence = Pick<StoredReceipt['payload'], 'verdict' | 'kind' | 'outcome' | 'tool' | 'action'>;

/** A call as a sentence in the words of the console. Names of tools come from the caller. */
export function sentenceOf({ verdict, kind, outcome, tool, action }: Sentence, caller: string): string {
  const call = `${tool ?? action}`;
  if (kind === 'outcome') return `The call of ${call} by ${caller}: ${outcome ?? 'unknown result'}`;
  if (kind !== 'decision') return `${caller}: ${action}`;
  if (verdict === 'ALLOW') return `${caller} was allowed to call ${call}`;
  if (verdict === 'DENY') return `${caller} was not allowed to call ${call}`;
  return `${caller} needs approval to call ${call}`;
}
