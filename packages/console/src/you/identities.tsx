import type { SessionOverview } from '@countersign/contracts/control-plane';
import { EndableTable } from '../parts/endable-table.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { EndCell } from './end-cell.tsx';
import type { Ending } from './ending.ts';

type Identity = SessionOverview['identities'][number];
type Props = { identities: Identity[]; onEnd: (ending: Ending) => void };

/** The accounts at identity providers that sign this person in. Shows nothing when there are none. */
export function Identities({ identities, onEnd }: Props) {
  if (identities.length === 0) return null;
  return (
    <section aria-label="Linked accounts">
      <h2>Linked accounts</h2>
      <EndableTable
        label="Accounts at identity providers"
        columns={['Provider', 'Account', { wide: 'Linked' }, { wide: 'Last sign-in' }]}
      >
        {identities.map((identity) => (
          <Row key={identity.identity_id} identity={identity} onEnd={onEnd} />
        ))}
      </EndableTable>
    </section>
  );
}

function Row({ identity, onEnd }: { identity: Identity; onEnd: Props['onEnd'] }) {
  const { identity_id, issuer, subject, linked_at, signed_in_at } = identity;
  const ending = {
    id: identity_id,
    title: 'Unlink this account',
    says: `The account at ${issuer} no longer signs you in. Your open sessions stay. A code to your address can link it again.`,
    act: 'Unlink account',
  };
  return (
    <tr>
      <td>
        <Shown text={issuer} />
      </td>
      <td>
        <Shown text={subject} />
      </td>
      <td className="wide">
        <Moment at={linked_at} />
      </td>
      <td className="wide">{signed_in_at === null ? 'Never' : <Moment at={signed_in_at} />}</td>
      <EndCell act="Unlink" ending={ending} onEnd={onEnd} />
    </tr>
  );
}
