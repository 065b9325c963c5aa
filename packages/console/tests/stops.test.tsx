import { at, stage, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { act, screen, waitFor, within } from '@testing-library/react';
import {
  freezeTarget,
  getOps,
  listOpsTargets,
  resumeTarget,
  throttleTarget,
} from '@countersign/contracts/control-plane';
import { StopsNow } from '../src/stops/stops-now.tsx';

const target = `workspace:${workspaceId}`;
const boundary = {
  ...{ status: 'ready', mode: 'enforce', last_proven_fail_closed: null },
  ...{ open_dispatches: 0, pending_approvals: 0 },
};
const nothingStopped = {
  ...{ workspace_id: workspaceId, kernel: 'ok', boundary },
  ...{ fences: [], more_fences: false, unconfirmed: [] },
};
const fence = {
  ...{ scope: `tenant:${workspaceId}`, target, kind: 'freeze', epoch: 4, reason: 'the vault leaks' },
  ...{ limit: null, window_seconds: null, set_by: 'ada', effective_at: at, expires_at: null },
  ...{ open_dispatches: [], more_open_dispatches: false },
};
const command = {
  ...{ command_id: 'cmd_01ARZ3NDEKTSV4RRFFQ69G5FAV', target, kind: 'freeze', epoch: 5, state: 'unconfirmed' },
  ...{ reason: 'kept until it is there', limit: null, window_seconds: null, given_by: 'ada', given_at: at },
  ...{ effective_at: null, expires_at: null, receipt_id: null, incident_id: null },
};
const values = {
  ...{ ...command, open_dispatches: [], more_open_dispatches: false, parked_runs: [] },
  ...{ known: null, calls_last_7d: null },
};
const targets = {
  agents: [{ principal_id: 'crawler', calls_last_7d: 1_204 }],
  tools: [{ tool: 'crm.read', calls_last_7d: 1 }],
  ...{ servers: [{ server_id: 'crm', calls_last_7d: 1 }], calls_last_7d: 1_205, is_whole: true },
};

function atStops(ops: object, role: 'member' | 'owner' = 'owner', existing: object = targets) {
  const here = stage();
  here.peer.answers(getOps, ops);
  here.peer.answers(listOpsTargets, existing);
  here.show(<StopsNow />, { role });
  return here;
}

describe('a stop', () => {
  async function throttling(name: string, existing: object = targets) {
    const here = atStops(nothingStopped, 'owner', existing);
    await here.user.click(await screen.findByRole('button', { name: 'Throttle' }));
    await here.user.type(await screen.findByLabelText(/^Why/), 'too fast');
    await here.user.type(screen.getByLabelText(/^Name of the tool/), name);
    return { ...here, give: () => here.user.click(screen.getByRole('button', { name: 'Throttle it' })) };
  }

  it('is not sent when no tool can have the name, and the form shows why', async () => {
    const { peer, give } = await throttling(' ');
    expect(screen.getByText('No target can have this name. Pick one from the list.')).toBeTruthy();
    await give();
    expect(peer.requests(throttleTarget)).toEqual([]);
  });

  it('that is refused shows why, and keeps the typed text', async () => {
    const { peer, give } = await throttling('.');
    peer.refuses(throttleTarget, 'INVALID_REQUEST', 'must be the name of a tool');
    await give();
    await screen.findByRole('heading', { name: 'The request has a wrong value' });
    expect(screen.getByText('must be the name of a tool')).toBeTruthy();
    expect(screen.getByLabelText<HTMLInputElement>(/^Name of the tool/).value).toBe('.');
  });

  /** An overview in which the kernel reports the stop that was just issued. */
  const holding = (name: string) => {
    const snapshot = { target: name, kind: 'throttle', epoch: 5, limit: 10, window_seconds: 60 };
    return { ...nothingStopped, fences: [{ ...fence, ...snapshot }] };
  };

  it('has a list of known names, with the calls of each', async () => {
    await throttling('crm.read');
    await screen.findByText('1 call in the last 7 days');
    const options = [...document.querySelectorAll('datalist option')].map((option) => option.getAttribute('value'));
    expect(options).toEqual(['crm.read']);
    expect(screen.queryByText(/No agent, tool or server has this name/)).toBeNull();
  });

  it('is not marked as a stop for an unknown name while the list of names is incomplete', async () => {
    const { peer } = await throttling('crm.raed', { ...targets, is_whole: false });
    await waitFor(() => expect(document.querySelectorAll('datalist option')).toHaveLength(1));
    expect(peer.requests(listOpsTargets).length).toBeGreaterThan(0);
    expect(screen.queryByText(/No agent, tool or server has this name/)).toBeNull();
  });

  it('for an unknown name is possible, and is amber before and after', async () => {
    const { peer, give } = await throttling('crm.raed');
    expect((await screen.findByText(/No agent, tool or server has this name/)).className).toContain('note-wait');
    const unknown = { ...values, kind: 'throttle', target: 'tool:crm.raed', state: 'effective', effective_at: at };
    peer.answers(throttleTarget, { ...unknown, known: false, calls_last_7d: 0 });
    peer.answers(getOps, holding('tool:crm.raed'));
    await give();
    const shown = await screen.findByRole('heading', { name: 'Throttle in force: Tool crm.raed' });
    const note = shown.closest('section');
    expect([note?.className, note?.textContent]).toEqual([
      'note note-wait',
      expect.stringContaining('No agent, tool or server has this name.'),
    ]);
  });

  it('for a known name is green, and shows its calls', async () => {
    const { peer, give } = await throttling('crm.read');
    const existing = { ...values, kind: 'throttle', target: 'tool:crm.read', state: 'effective', effective_at: at };
    peer.answers(throttleTarget, { ...existing, known: true, calls_last_7d: 1_204 });
    peer.answers(getOps, holding('tool:crm.read'));
    await give();
    const shown = await screen.findByRole('heading', { name: 'Throttle in force: Tool crm.read' });
    expect(shown.closest('section')?.className).toBe('note note-good');
    await screen.findByText('1,204 calls in the last 7 days.');
  });

  it('is sent once, with its terms, even if its button is pressed again before the answer', async () => {
    const { peer, user, give } = await throttling('crm.read');
    await user.clear(screen.getByLabelText(/^Calls per minute/));
    await user.type(screen.getByLabelText(/^Calls per minute/), '1');
    const release = peer.holds(throttleTarget, { ...values, kind: 'throttle', target: 'tool:crm.read' });
    await give();
    await give();
    const terms = { target: 'tool:crm.read', reason: 'too fast', limit: 1, window_seconds: 60 };
    expect(peer.requests(throttleTarget).map(({ body }) => body)).toEqual([terms]);
    peer.answers(getOps, { ...nothingStopped, unconfirmed: [{ ...command, target: 'tool:crm.read' }] });
    release();
    await screen.findByRole('heading', { name: 'Throttle not confirmed: Tool crm.read' });
  });

  it('cannot be issued or tried by members', async () => {
    atStops(nothingStopped, 'member');
    await screen.findByText('Only partners and owners can stop calls.');
    await screen.findByRole('heading', { name: 'Nothing is stopped' });
    expect(screen.queryByRole('button', { name: /Freeze|Throttle|Quarantine|Try it/ })).toBeNull();
  });
});

describe('the result of a stop', () => {
  it('is shown until another stop replaces it, even one by another person', async () => {
    const { peer, user, readAgain } = atStops(nothingStopped);
    await user.click(await screen.findByRole('button', { name: 'Freeze' }));
    await user.type(await screen.findByLabelText(/^Why/), 'the vault leaks');
    const frozen = { ...values, state: 'effective', epoch: 4, effective_at: at };
    peer.answers(freezeTarget, frozen);
    peer.answers(getOps, { ...nothingStopped, fences: [fence] });
    await user.click(screen.getByRole('button', { name: 'Freeze it' }));
    await screen.findByRole('heading', { name: 'Freeze in force: This workspace' });
    await screen.findByRole('list', { name: 'Stops in force' });
    expect(screen.getByRole('heading', { name: /^Freeze in force/ })).toBeTruthy();
    peer.answers(getOps, { ...nothingStopped, fences: [{ ...fence, kind: 'quarantine', epoch: 5, reason: 'theirs' }] });
    await act(() => readAgain());
    await screen.findByText('theirs');
    expect(screen.queryByRole('heading', { name: /^Freeze in force/ })).toBeNull();
  });
});

describe('the list of stops', () => {
  it('shows a reason as plain text, the terms, and that a stop has no end', async () => {
    const throttle = { kind: 'throttle', limit: 1, window_seconds: 60, reason: 'leaks <b>\u202e' };
    atStops({ ...nothingStopped, fences: [{ ...fence, ...throttle }] });
    const fences = within(await screen.findByRole('list', { name: 'Stops in force' }));
    expect(fences.getByText('leaks <b>⟨U+202E⟩')).toBeTruthy();
    expect(fences.getByText('to 1 call a minute')).toBeTruthy();
    expect(fences.getByText(/until it is resumed/)).toBeTruthy();
  });

  it('shows only unconfirmed stops while the kernel is unavailable', async () => {
    atStops({ ...nothingStopped, kernel: 'unreachable', boundary: null, unconfirmed: [command] });
    await screen.findByRole('heading', { name: 'The kernel does not answer' });
    expect(screen.queryByText('Nothing is stopped')).toBeNull();
    expect(screen.queryByRole('list', { name: 'Stops in force' })).toBeNull();
    const commands = within(screen.getByRole('region', { name: 'Commands' }));
    expect(commands.getByText('Freeze not confirmed')).toBeTruthy();
    expect(commands.getByText('kept until it is there')).toBeTruthy();
  });

  it('is marked as old when the gateway no longer answers', async () => {
    const { peer, readAgain } = atStops({ ...nothingStopped, fences: [fence] });
    await screen.findByText('the vault leaks');
    expect(screen.queryByText(/may be out of date/)).toBeNull();
    peer.isAwayFor(getOps);
    void readAgain();
    await screen.findByRole('heading', { name: 'The gateway does not answer' });
    expect(screen.getByText(/may be out of date/)).toBeTruthy();
  });
});

describe('resuming', () => {
  async function resuming() {
    const here = atStops({ ...nothingStopped, fences: [fence] });
    await here.user.click(await screen.findByRole('button', { name: /^Resume / }));
    const resume = await screen.findByRole<HTMLButtonElement>('button', { name: 'Resume it' });
    return { ...here, resume, typed: screen.getByLabelText(`Type ${target} to go on`) };
  }

  it('requires a reason', async () => {
    const { peer, user, resume, typed } = await resuming();
    await user.type(typed, `${target}{Enter}`);
    expect(resume.disabled).toBe(true);
    expect(peer.requests(resumeTarget)).toEqual([]);
  });

  it('requires the exact name of the stopped target', async () => {
    const { peer, user, resume, typed } = await resuming();
    await user.type(screen.getByLabelText(/^Reason to resume/), 'mended');
    await user.type(typed, 'workspace:another{Enter}');
    expect(resume.disabled).toBe(true);
    expect(peer.requests(resumeTarget)).toEqual([]);
  });

  it('lifts exactly the shown stop, and shows the answer of the service', async () => {
    const { peer, user, typed } = await resuming();
    peer.answers(resumeTarget, { ...values, kind: 'open', state: 'effective', effective_at: at });
    peer.answers(getOps, nothingStopped);
    await user.type(screen.getByLabelText(/^Reason to resume/), 'mended');
    await user.type(typed, `${target}{Enter}`);
    await screen.findByRole('heading', { name: 'Resumed: This workspace' });
    expect(peer.requests(resumeTarget).map(({ body }) => body)).toEqual([{ target, reason: 'mended', epoch: 4 }]);
    expect(peer.requests(freezeTarget)).toEqual([]);
  });
});
