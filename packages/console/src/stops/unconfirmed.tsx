import type { OpsCommand } from '@countersign/contracts/control-plane';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { Terms } from './terms.tsx';

/** Stops that the kernel has not confirmed: they are not shown as in force. */
export function Unconfirmed({ commands }: { commands: OpsCommand[] }) {
  if (commands.length === 0) return null;
  return (
    <section aria-label="Not confirmed yet">
      <h2>Not confirmed yet</h2>
      <p className="quiet">They are sent to the kernel, in this order, until it confirms them.</p>
      <div className="table-box" tabIndex={0} role="region" aria-label="Commands">
        <table className="cards">
          <thead>
            <tr>
              <th>Stop</th>
              <th>Target</th>
              <th>Why</th>
              <th className="number">Epoch</th>
              <th>Given</th>
            </tr>
          </thead>
          <tbody>
            {commands.map((command) => (
              <Row key={command.command_id} command={command} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ command }: { command: OpsCommand }) {
  const { kind, target, reason, epoch, given_at, given_by } = command;
  return (
    <tr>
      <td className="tight" data-name="Stop">
        <Mark tone="wait">{`${kind} unconfirmed`}</Mark>
        <Terms of={command} />
      </td>
      <td data-name="Target">
        <Shown text={target} />
      </td>
      <td data-name="Why">
        <Shown text={reason} />
      </td>
      <td className="number" data-name="Epoch">
        {epoch}
      </td>
      <td data-name="Given">
        <Moment at={given_at} /> by <Shown text={given_by} />
      </td>
    </tr>
  );
}
