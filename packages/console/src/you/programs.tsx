import type { SessionOverview } from '@countersign/contracts/control-plane';
import { EndableTable } from '../parts/endable-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { EndCell } from './end-cell.tsx';
import type { Ending } from './ending.ts';

type Program = SessionOverview['devices'][number];
type Props = { devices: Program[]; nameOf: (workspaceId: string) => string; onEnd: (ending: Ending) => void };

/** Terminal programs that got access by a code, each to one workspace. */
export function Programs({ devices, nameOf, onEnd }: Props) {
  return (
    <section aria-label="Programs">
      <h2>Programs</h2>
      {devices.length === 0 ? (
        <EmptyState title="No programs yet" command={`countersign login --url ${location.origin}`}>
          A program gets access with a code that you confirm here, to one workspace and one role. It can never approve
          calls.
        </EmptyState>
      ) : (
        <EndableTable
          label="Programs with access"
          columns={['Program', 'Workspace', { wide: 'From' }, { wide: 'Access since' }]}
        >
          {devices.map((device) => (
            <Row key={device.session_id} device={device} place={nameOf(device.workspace_id)} onEnd={onEnd} />
          ))}
        </EndableTable>
      )}
    </section>
  );
}

type RowProps = { device: Program; place: string; onEnd: Props['onEnd'] };

function Row({ device: { session_id, client, address, role, signed_in_at }, place, onEnd }: RowProps) {
  const ending = {
    id: session_id,
    title: 'End program',
    says: `${client} in ${place} is refused from now on. It can ask for access again.`,
    act: 'End program',
  };
  return (
    <tr>
      <td>
        <Shown text={client} />
      </td>
      <td>
        <Shown text={place} /> <span className="quiet">as {role}</span>
      </td>
      <td className="wide">
        <Shown text={address} />
      </td>
      <td className="wide">
        <Moment at={signed_in_at} />
      </td>
      <EndCell act="End" ending={ending} onEnd={onEnd} />
    </tr>
  );
}
