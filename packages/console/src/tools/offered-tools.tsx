import type { McpServerTool } from '@countersign/contracts/governance-kernel';
import { Mark } from '../parts/mark.tsx';
import { Shown } from '../parts/shown.tsx';
import { effectWords } from './effect-words.ts';
import { definitionStates } from './server-states.ts';

/** The tools that a server lists, each with its stated effect and the state of its definition. */
export function OfferedTools({ tools }: { tools: readonly McpServerTool[] }) {
  if (tools.length === 0) return <p className="quiet">It has listed no tools.</p>;
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Tools of the server">
      <table>
        <thead>
          <tr>
            <th>Tool</th>
            <th className="wide">Stated effect</th>
            <th>Definition</th>
          </tr>
        </thead>
        <tbody>
          {tools.map(({ name, annotated_effect, pin, renamed_from }) => (
            <tr key={name}>
              <td>
                <code>
                  <Shown text={name} />
                </code>
                {renamed_from !== null && (
                  <span className="quiet">
                    {' '}
                    was <Shown text={renamed_from} />
                  </span>
                )}
              </td>
              <td className="wide">{effectWords[annotated_effect]}</td>
              <td className="tight">
                <Mark tone={definitionStates[pin].tone}>{definitionStates[pin].word}</Mark>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
