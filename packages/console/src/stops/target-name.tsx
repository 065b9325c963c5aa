import { TextInput } from '@mantine/core';
import { useId } from 'react';
import type { BoundaryTargets } from '@countersign/contracts/governance-kernel';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { callsInWords } from './calls-in-words.ts';
import { targetOf, type TargetKind } from './target.ts';

type Props = {
  kind: TargetKind;
  label: string;
  value: string;
  onChange: (name: string) => void;
};

/**
 * The name of a target, picked from the known names or typed. The known names only help with typing: a stop must not
 * wait until they are read.
 */
export function TargetName({ kind, label, value, onChange }: Props) {
  const id = useId();
  const targets = useWorkspaceQuery(['ops targets'], (client, signal) => client.listOpsTargets({ signal }));
  const existing = targets.data === undefined ? [] : namesOf(kind, targets.data);
  const name = value.trim();
  const picked = existing.find((each) => each.name === name);
  const isName = name === '' || targetOf(kind, name) !== null;
  const isUnknown = name !== '' && isName && picked === undefined && targets.data?.is_whole === true;
  return (
    <>
      <TextInput
        label={label}
        required
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
        list={id}
        description={
          picked === undefined
            ? 'Pick one from the list, or type a name.'
            : `${callsInWords(picked.calls)} in the last 7 days`
        }
        error={value !== '' && (!isName || name === '') && 'No target can have this name. Pick one from the list.'}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={id}>
        {existing.map((each) => (
          <option key={each.name} value={each.name}>
            {callsInWords(each.calls)}
          </option>
        ))}
      </datalist>
      {isUnknown && (
        <p className="note note-wait" role="status">
          No agent, tool or server has this name. Check the spelling. The stop will apply to this exact name only.
        </p>
      )}
    </>
  );
}

function namesOf(kind: TargetKind, { agents, tools, servers }: BoundaryTargets): { name: string; calls: number }[] {
  const names = {
    workspace: [],
    agent: agents.map(({ principal_id: name, calls_last_7d: calls }) => ({ name, calls })),
    tool: tools.map(({ tool: name, calls_last_7d: calls }) => ({ name, calls })),
    connector: servers.map(({ server_id: name, calls_last_7d: calls }) => ({ name, calls })),
  };
  return names[kind];
}
