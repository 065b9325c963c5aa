import type { EffectLevel } from '@countersign/contracts';
import type { McpServerTool } from '@countersign/contracts/governance-kernel';
import { Mark, type Tone } from '../parts/mark.tsx';
import { effectWords } from '../tools/effect-words.ts';
import { useServer } from '../tools/use-server.ts';

type Capability = { word: string; tone: Tone };
const reads: Capability = { word: effectWords.E1, tone: 'plain' };

/** The capability that each effect shows. Risky ones are amber. */
const capabilities: Readonly<Record<EffectLevel, Capability>> = {
  E0: reads,
  E1: reads,
  E2: { word: 'Writes', tone: 'plain' },
  E3: { word: effectWords.E3, tone: 'wait' },
  E4: { word: effectWords.E4, tone: 'wait' },
};

/** The effects that the server of an installed connector states for its tools, with the number of tools. */
export function Capabilities({ connectorId }: { connectorId: string }) {
  const { data } = useServer(connectorId);
  if (data === undefined) return null;
  if (data.tools.length === 0) return <p className="quiet">It has listed no tools.</p>;
  return (
    <ul className="actions" aria-label="Capabilities">
      {countsOf(data.tools).map(([{ word, tone }, count]) => (
        <li key={word}>
          <Mark tone={tone}>{`${word}: ${count === 1 ? '1 tool' : `${count} tools`}`}</Mark>
        </li>
      ))}
    </ul>
  );
}

export function countsOf(tools: readonly Pick<McpServerTool, 'annotated_effect'>[]): [Capability, number][] {
  return [...new Set(Object.values(capabilities))].flatMap((capability): [Capability, number][] => {
    const count = tools.filter(({ annotated_effect: effect }) => capabilities[effect] === capability).length;
    return count === 0 ? [] : [[capability, count]];
  });
}
