import { stage } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import { listConsoleTools } from '@countersign/contracts/control-plane';
import { ToolDrawer } from '../src/tools/tool-drawer.tsx';
import { ToolsPage } from '../src/tools/tools-page.tsx';

const definition = { name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' } };
const hostile = 'Reads a note. <img src=x onerror="alert(1)">\u202e';
const shownHostile = 'Reads a note. <img src=x onerror=\\"alert(1)\\">⟨U+202E⟩';
const drifted = {
  ...{ tool: 'notes.read_note', server_id: 'notes', server_state: 'approved', pin: 'drifted', blocked: false },
  ...{ annotated_effect: 'E1', effect_level: 'E1', definition },
  ...{ pinned_hash: `sha256:${'0'.repeat(64)}`, observed_hash: `sha256:${'1'.repeat(64)}` },
  observed_definition: { ...definition, description: hostile },
};

describe('a tool that its server has changed', () => {
  it('has the mark of drift in the list, and one that is as approved has not', async () => {
    const { peer, show } = stage();
    const same = { ...drifted, tool: 'notes.write_note', pin: 'in_sync', observed_definition: null };
    peer.answers(listConsoleTools, { data: [drifted, same], next_cursor: null });
    show(<ToolsPage />);
    const row = within(await screen.findByRole('row', { name: /read_note/ }));
    expect(row.getByText('has drifted')).toBeTruthy();
    expect(within(screen.getByRole('row', { name: /write_note/ })).getByText('as approved')).toBeTruthy();
  });

  it('shows what changed and nothing else, as text', async () => {
    stage().show(<ToolDrawer tool={drifted as never} onClose={() => undefined} />); // parsed where a list is read
    const changed = within(await screen.findByRole('region', { name: 'What has changed' }));
    expect(changed.getAllByRole('heading', { level: 4 }).map(({ textContent }) => textContent)).toEqual([
      'description',
    ]);
    expect(changed.getByRole('region', { name: 'Approved: description' }).textContent).toContain('Reads a note.');
    expect(changed.getByRole('region', { name: 'Shown now: description' }).textContent).toContain(shownHostile);
    expect(document.querySelector('img')).toBeNull();
  });
});
