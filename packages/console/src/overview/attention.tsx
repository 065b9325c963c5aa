import { IconAlertTriangle, IconShieldX, IconUserQuestion, IconUsers, type Icon } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useSnapshot } from '../live/snapshot.ts';
import { Loaded } from '../parts/loaded.tsx';
import { countForPerson, needsOf, type Need } from './needs.ts';
import { WaitingCalls } from './waiting-calls.tsx';

const looks: Readonly<Record<Need['kind'], { tone: 'bad' | 'wait' | 'plain'; Symbol: Icon }>> = {
  denying: { tone: 'bad', Symbol: IconShieldX },
  unconfirmed: { tone: 'wait', Symbol: IconAlertTriangle },
  approval: { tone: 'wait', Symbol: IconUserQuestion },
  other_approval: { tone: 'plain', Symbol: IconUsers },
};

/** One sentence with the number of items that need the person. */
export function AttentionSummary() {
  const { data, error } = useSnapshot();
  if (data === undefined) return null;
  if (error !== null || data.boundary === null) return <>Waiting for an answer. This list may be incomplete.</>;
  const count = countForPerson(data);
  if (count === 0) return <>All clear. Nothing needs you.</>;
  return <>{count === 1 ? '1 thing needs you' : `${count} things need you`}.</>;
}

/** The items that need the person, the worst first. */
export function Attention() {
  const snapshot = useSnapshot();
  return (
    <Loaded query={snapshot}>
      {(data) => {
        const needs = needsOf(data);
        if (needs.length === 0) return null;
        return (
          <section aria-label="Needs attention">
            <ul className="list">
              {needs.map((need) => (
                <Item key={need.kind} need={need} />
              ))}
            </ul>
          </section>
        );
      }}
    </Loaded>
  );
}

function Item({ need }: { need: Need }) {
  return need.kind === 'approval' ? <WaitingCalls count={need.count} text={need.text} /> : <Line need={need} />;
}

function Line({ need: { kind, text, page, search = {}, act, isForPerson } }: { need: Need }) {
  const { tone, Symbol } = looks[kind];
  return (
    <li>
      <span className={`symbol symbol-${tone}`}>
        <Symbol size={16} aria-hidden="true" />
      </span>
      <span className="grow">{text}</span>
      <Link to={page} search={search} className={isForPerson ? 'button button-primary' : 'button'}>
        {act}
      </Link>
    </li>
  );
}
