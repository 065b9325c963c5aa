import type { OpsCommand } from '@countersign/contracts/control-plane';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { Who } from '../parts/who.tsx';
import { commandInWords } from './command-in-words.ts';
import { TargetText } from './target-text.tsx';
import { Terms } from './terms.tsx';

/** Stops that the kernel has not confirmed. They are not shown as in force. */
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
              <th>Issued</th>
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
  const { target, reason, given_at, given_by } = command;
  return (
    <tr>
      <td className="tight" data-name="Stop">
        <Mark tone="wait">{commandInWords(command)}</Mark>
        <Terms of={command} />
      </td>
      <td data-name="Target">
        <TargetText target={target} />
      </td>
      <td data-name="Why">
        <Shown text={reason} />
      </td>
      <td data-name="Issued">
        <Moment at={given_at} /> by <Who actor={given_by} />
      </td>
    </tr>
  );
}
