import { Link } from '@tanstack/react-router';
import type { RegisteredTool } from '@countersign/contracts/governance-kernel';
import { Mark } from '../parts/mark.tsx';
import { Shown } from '../parts/shown.tsx';
import { pinTones, pinWords } from './pins.ts';

export function ToolTable({ tools }: { tools: readonly RegisteredTool[] }) {
  return (
    <>
      <div className="table-box" tabIndex={0} role="region" aria-label="Tools">
        <table>
          <thead>
            <tr>
              <th>Tool</th>
              <th>Definition</th>
              <th className="wide">Server</th>
              <th className="wide">Effect</th>
            </tr>
          </thead>
          <tbody>
            {tools.map((tool) => (
              <Row key={tool.tool} tool={tool} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="quiet after-table">
        Effect: E0 none, E1 reads, E2 can be undone, E3 external or hard to undo, E4 destructive or financial, or not
        declared.
      </p>
    </>
  );
}

function Row({ tool: { tool, pin, blocked, server_id, server_state, effect_level } }: { tool: RegisteredTool }) {
  return (
    <tr data-id={tool}>
      <td>
        <Link to={`/tools/${encodeURIComponent(tool)}`}>
          <Shown text={tool} />
        </Link>{' '}
        {blocked && <Mark tone="bad">blocked here</Mark>}
      </td>
      <td className="tight">
        <Mark tone={pinTones[pin]}>{pinWords[pin]}</Mark>
      </td>
      <td className="wide">
        <Shown text={server_id} /> <Mark tone={server_state === 'approved' ? 'plain' : 'wait'}>{server_state}</Mark>
      </td>
      <td className="wide">{effect_level}</td>
    </tr>
  );
}
