import { stage, userId, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { getConsoleWorkspace } from '@countersign/contracts/control-plane';
import { actionInWords, reasonInWords } from '../src/audit/audit-words.ts';
import { kindInWords } from '../src/activity/kind-words.ts';
import { Who } from '../src/parts/who.tsx';
import { commandInWords } from '../src/stops/command-in-words.ts';
import { TargetText } from '../src/stops/target-text.tsx';

const gone = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAW';

describe('the name of a caller', () => {
  it('is the address of a member, or a fixed name for the own agent of the workspace', async () => {
    const { show } = stage();
    show([userId, `agent:${workspaceId}`, 'service'].map((actor) => <Who key={actor} actor={actor} />));
    expect((await screen.findByText('ada@example.org')).closest('[title]')?.getAttribute('title')).toBe(userId);
    expect(screen.getByText('Workspace agent')).toBeTruthy();
    expect(screen.getByText('Countersign')).toBeTruthy();
  });

  it('is the chosen name, with its hidden characters shown as code points, and the members are not fetched', async () => {
    const { peer, show } = stage();
    show(<Who actor={'scout \u202e'} />);
    expect(await screen.findByText('scout ⟨U+202E⟩')).toBeTruthy();
    expect(peer.requests(getConsoleWorkspace)).toEqual([]);
  });

  it('is the id of a person who has left', async () => {
    const { show } = stage();
    show([userId, gone].map((actor) => <Who key={actor} actor={actor} />));
    await screen.findByText('ada@example.org');
    expect(screen.getByText(gone)).toBeTruthy();
  });
});

describe('the target of a stop', () => {
  it.each([
    [`workspace:${workspaceId}`, 'This workspace'],
    ['tool:crm.read', 'Tool crm.read'],
    ['agent:scout', 'Agent scout'],
    [`agent:agent:${workspaceId}`, 'Agent Workspace agent'],
    ['connector:ledger', 'Server ledger'],
    ['workspace:wsp_01ARZ3NDEKTSV4RRFFQ69G5FAA', 'workspace:wsp_01ARZ3NDEKTSV4RRFFQ69G5FAA'],
  ])('%s is shown as "%s"', async (target, words) => {
    const { show } = stage();
    show(
      <p data-testid="target">
        <TargetText target={target} />
      </p>,
    );
    expect((await screen.findByTestId('target')).textContent).toBe(words);
  });
});

describe('words of records', () => {
  it('describe a stop as in force only after the kernel has confirmed it', () => {
    expect(commandInWords({ kind: 'freeze', state: 'effective' })).toBe('Freeze in force');
    expect(commandInWords({ kind: 'throttle', state: 'unconfirmed' })).toBe('Throttle not confirmed');
    expect(commandInWords({ kind: 'open', state: 'effective' })).toBe('Resumed');
    expect(commandInWords({ kind: 'open', state: 'unconfirmed' })).toBe('Resume not confirmed');
  });

  it('name actions and reasons of the audit log', () => {
    expect(actionInWords('run.awaiting_approval')).toBe('Run awaiting approval');
    expect(actionInWords('ops.open')).toBe('Resume');
    expect([reasonInWords('ok'), reasonInWords('APPROVAL_REQUIRED'), reasonInWords('because')]).toEqual([
      '',
      'A rule asks for a person',
      'because',
    ]);
  });

  it('name the content of a receipt', () => {
    expect(kindInWords({ kind: 'outcome', outcome: 'uncertain' })).toBe('Result unknown');
    expect(kindInWords({ kind: 'policy' })).toBe('Change to rules');
  });
});
