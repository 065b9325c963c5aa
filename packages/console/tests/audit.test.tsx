import { stage, userId, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, waitFor, within } from '@testing-library/react';
import { getConsoleWorkspace, listAuditEntries } from '@countersign/contracts/control-plane';
import { listAudit } from '@countersign/contracts/gateway';
import { AuditPage } from '../src/audit/audit-page.tsx';
import { linkOf, mergeChains, workspaceRow, type AuditRow } from '../src/audit/audit-rows.ts';

const hashOf = (nth: number) => `sha256:${String(nth).padStart(64, '0')}`;
const minute = (nth: number) => `2026-11-27T12:${String(nth).padStart(2, '0')}:00.000Z`;

const common = (seq: number, action: string, actor: string) => ({
  ...{ id: `aud_${seq}`, seq, action, verdict: 'allow', reason: '', subject: null, details: {}, actor },
  hash: hashOf(seq),
});
const ofWorkspace = (seq: number, at: number, action: string, prev = seq - 1) => ({
  ...{ ...common(seq, action, userId), workspaceId, requestId: null, createdAt: minute(at) },
  prevHash: prev === 0 ? null : hashOf(prev),
});
const ofControlPlane = (seq: number, at: number, action: string, actor: string = userId) => ({
  ...{ ...common(seq, action, actor), scope: workspaceId, request_id: null, created_at: minute(at) },
  prev_hash: seq === 1 ? null : hashOf(seq - 1),
});

function atAudit(role: 'member' | 'partner' = 'partner') {
  const here = stage();
  const members = [{ user_id: userId, name: 'Ada', email: 'ada@example.org', role: 'owner', joined_at: minute(0) }];
  const workspace = { workspace_id: workspaceId, name: 'Vault', org_id: null, role, created_at: minute(0) };
  here.peer.answers(getConsoleWorkspace, { ...workspace, members, public_proof: 'published' });
  here.peer.answers(listAudit, {
    data: [ofWorkspace(2, 30, 'member.joined'), ofWorkspace(1, 10, 'workspace.created')],
    nextCursor: null,
  });
  here.peer.answers(listAuditEntries, {
    data: [ofControlPlane(2, 40, 'stop.lifted'), ofControlPlane(1, 20, 'stop.given', 'control-plane')],
    next_cursor: null,
  });
  const show = () => here.show(<AuditPage />, { role });
  return { ...here, open: show };
}

const actions = async () => {
  const table = within(await screen.findByRole('region', { name: 'Entries' }));
  return table.getAllByRole('row').flatMap((row) => row.querySelector('span[title*="."]')?.getAttribute('title') ?? []);
};

describe('the audit page', () => {
  it('lists the entries of both services together, newest first, with the names of people', async () => {
    const { peer, open } = atAudit();
    open();
    expect(await actions()).toEqual(['stop.lifted', 'member.joined', 'stop.given', 'workspace.created']);
    expect(peer.requests(listAuditEntries).map(({ query }) => query['workspace_id'])).toEqual([workspaceId]);
    expect(await screen.findAllByText('ada@example.org')).toHaveLength(3);
    expect(screen.getAllByText('Countersign')).toHaveLength(1);
    expect(screen.getByText('Workspace created')).toBeTruthy();
  });

  it('reports for each log separately whether it is complete', async () => {
    const { peer, open } = atAudit();
    peer.answers(listAudit, {
      data: [ofWorkspace(3, 30, 'member.joined', 9), ofWorkspace(2, 10, 'workspace.created')],
      nextCursor: null,
    });
    open();
    const checks = await screen.findByRole('list', { name: 'Checks of the logs' });
    await screen.findByText(/Control plane log: entries 1 to 2 are complete/);
    expect(checks.textContent).toContain('Workspace log: entry 3 does not contain the hash of the entry before it');
  });

  it('reports that entries may be missing when the control plane does not answer', async () => {
    const { peer, open } = atAudit();
    peer.refuses(listAuditEntries, 'PERMISSION_DENIED');
    open();
    await screen.findByText('Stops, incidents and policies may be missing from the list.');
    expect(await actions()).toEqual(['member.joined', 'workspace.created']);
    expect(screen.queryByText(/Control plane log/)).toBeNull();
  });

  it('shows no list before both logs are read', async () => {
    const { peer, open } = atAudit();
    const release = peer.holds(listAuditEntries, { data: [ofControlPlane(1, 20, 'stop.given')], next_cursor: null });
    open();
    await screen.findByText(/Workspace log: entries 1 to 2 are complete/);
    expect(screen.queryByRole('region', { name: 'Entries' })).toBeNull();
    release();
    expect(await actions()).toEqual(['member.joined', 'stop.given', 'workspace.created']);
  });

  it('offers older entries when one of the logs has more', async () => {
    const { peer, user, open } = atAudit();
    peer.answers(listAuditEntries, { data: [ofControlPlane(2, 40, 'stop.lifted')], next_cursor: 'more' });
    open();
    expect(await actions()).toEqual(['stop.lifted']);
    peer.answers(listAuditEntries, { data: [ofControlPlane(1, 20, 'stop.given')], next_cursor: null });
    await user.click(screen.getByRole('button', { name: 'Show more' }));
    await waitFor(async () =>
      expect(await actions()).toEqual(['stop.lifted', 'member.joined', 'stop.given', 'workspace.created']),
    );
    expect(peer.requests(listAuditEntries).map(({ query }) => query['cursor'])).toContain('more');
  });

  it('shows a member only the workspace log, and states which entries are missing', async () => {
    const { peer, open } = atAudit('member');
    open();
    await screen.findByText('Partners and owners also see stops, incidents and policies here.');
    expect(await actions()).toEqual(['member.joined', 'workspace.created']);
    expect(peer.requests(listAuditEntries)).toEqual([]);
  });

  it('does not check links between entries in a filtered list', async () => {
    const { user, open } = atAudit();
    open();
    await user.selectOptions(await screen.findByLabelText('Decision'), 'allow');
    await screen.findByText(/links between entries are not checked/);
  });
});

describe('two logs in one list', () => {
  const rows = (...places: [number, number][]) =>
    places.map(([seq, at]) => workspaceRow(ofWorkspace(seq, at, 'a.b') as never)); // in the form of the contract

  it('end where one log has unread entries', () => {
    const own = { items: rows([3, 30], [2, 20]), next: 'more', newer: 0 };
    const second = { items: rows([9, 25], [8, 15]), next: null, newer: 0 };
    expect(mergeChains([own, second]).items.map(({ seq }) => seq)).toEqual([3, 9, 2]);
    expect(mergeChains([{ ...own, next: null }, second]).items.map(({ seq }) => seq)).toEqual([3, 9, 2, 8]);
  });

  it('have linked entries only when no entry of a log is missing', () => {
    expect(linkOf(rows([3, 3], [2, 2], [1, 1]))).toEqual({ newest: 3, oldest: 1, brokenAt: null });
    expect(linkOf(rows([3, 3], [1, 1]))).toMatchObject({ brokenAt: 3 });
    expect(linkOf([])).toBeNull();
  });

  it('have no linked entries when the first entry of a log names a previous entry', () => {
    const [first] = rows([1, 1]);
    expect(linkOf([{ ...(first as AuditRow), prevHash: hashOf(7) as never }])).toMatchObject({ brokenAt: 1 }); // in the form of the contract
  });
});
