import type { Agent } from '@countersign/contracts/governance-kernel';
import { visibleText } from '@countersign/contracts';
import { Mark, type Tone } from '../parts/mark.tsx';

const states: Readonly<Record<Agent['state'], { word: string; tone: Tone }>> = {
  active: { word: 'Active', tone: 'good' },
  slowed: { word: 'Slowed', tone: 'wait' },
  stopped: { word: 'Stopped', tone: 'bad' },
  revoked: { word: 'Revoked', tone: 'plain' },
};

export function AgentState({ state }: Pick<Agent, 'state'>) {
  const { word, tone } = states[state];
  return <Mark tone={tone}>{word}</Mark>;
}

/** A square with two letters of the name, for agents. People have circles. */
export function AgentSquare({ name }: { name: string }) {
  const words = visibleText(name)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const letters = [words[0]?.at(0), words.length > 1 ? words.at(-1)?.at(0) : words[0]?.at(1)];
  return (
    <span className="agent-square" aria-hidden="true">
      {letters.join('').toUpperCase()}
    </span>
  );
}
