import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { createSmtpMailer, type Mailer } from '../src/identity/mailer.ts';

const mails: { to: string[]; text: string }[] = [];
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData: (stream, { envelope }, done) => {
    const to = envelope.rcptTo.map(({ address }) => address);
    let text = '';
    stream
      .setEncoding('utf8')
      .on('data', (chunk: string) => (text += chunk))
      .on('end', () => {
        mails.push({ to, text });
        done();
      });
  },
});
let mailer: Mailer;

beforeAll(async () => {
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
  const { port } = smtp.server.address() as AddressInfo; // it listens on TCP
  mailer = createSmtpMailer({ smtpUrl: `smtp://127.0.0.1:${port}`, from: 'Countersign <no-reply@localhost>' });
});

beforeEach(() => {
  mails.length = 0;
});

afterAll(async () => {
  mailer?.close();
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
});

/** A hostile name that a messenger could report for a person. */
const hostile = 'Support\r\n\r\nYour account is locked: https://evil.example\r\nBcc: all@example.org\u202e';
const bodyLines = () => mails.flatMap(({ text }) => text.split('\r\n\r\n').slice(1).join('\n\n').split(/\r?\n/));

describe('a user-chosen name', () => {
  it('cannot begin a line of an invitation, hide text in it, or add a reader', async () => {
    const url = 'https://gateway.example/invite/token';
    await mailer.sendInvite('ada@example.org', { workspace: `${hostile}'s workspace`, from: hostile, url });
    expect(mails.map(({ to }) => to)).toEqual([['ada@example.org']]);
    expect(mails[0]?.text).not.toMatch(/^Bcc/im);
    expect(mails[0]?.text).not.toMatch(/=E2=80=AE|\u202e/);
    expect(bodyLines().filter((line) => /^(Your account|https:\/\/evil)/.test(line))).toEqual([]);
    expect(bodyLines()).toContain(url);
  });

  it('cannot begin a line of the mail with a code, and the mail states which workspace the code makes its reader a member of, if any', async () => {
    const joins = { workspace: hostile, from: 'eve@example.org' };
    await mailer.sendCode('ada@example.org', '123456', joins);
    await mailer.sendCode('ada@example.org', '654321', null);
    const [joining = '', plain = ''] = mails.map(({ text }) => text.replaceAll('=\r\n', ''));
    expect(joining).toContain('123456');
    expect(joining).toMatch(/It also makes you a member of Support .*, to which eve@example\.org invited you\./);
    expect(bodyLines().filter((line) => /^(Your account|https:\/\/evil)/.test(line))).toEqual([]);
    expect(plain).not.toContain('member');
  });
});

describe('a mail', () => {
  const deps = () => {
    const [headers = '', ...body] = (mails[0]?.text ?? '').replaceAll('=\r\n', '').split('\r\n\r\n');
    return { headers, body: body.join('\n\n').replaceAll('\r\n', '\n') };
  };

  it('with a code states its purpose and lifetime, and that an unrequested one can be ignored', async () => {
    await mailer.sendCode('ada@example.org', '123456', null);
    expect(deps().headers).toMatch(/^From: Countersign <no-reply@localhost>$/m);
    expect(deps().headers).toMatch(/^Subject: 123456 is your Countersign sign-in code$/m);
    expect(deps().body).toBe(
      'Your sign-in code is 123456. It is valid for 10 minutes.\n\nIf you did not ask for it, ignore this mail.\n',
    );
  });

  it('with an invitation states the inviter, the workspace, how to accept and until when', async () => {
    const invitation = { workspace: 'Engines', from: 'eve@example.org', url: 'https://gateway.example/invite/token' };
    expect(await mailer.sendInvite('ada@example.org', invitation)).toBe(true);
    expect(deps().headers).toMatch(/^Subject: You are invited to a workspace of Countersign$/m);
    expect(deps().body).toBe(
      'eve@example.org invites you to Engines.\n\nAccept with this address within 7 days:\n' +
        'https://gateway.example/invite/token\n\nIf you do not know the sender, ignore this mail.\n',
    );
  });

  it('with a notification has the given content', async () => {
    await mailer.sendNotification('ada@example.org', { subject: 'A question waits', text: 'Come and see.\n' });
    expect(mails.map(({ to }) => to)).toEqual([['ada@example.org']]);
    expect(deps().headers).toMatch(/^Subject: A question waits$/m);
    expect(deps().body).toBe('Come and see.\n');
  });

  it('without a working mail server is not sent', async () => {
    const unheard = createSmtpMailer({ smtpUrl: 'smtp://127.0.0.1:9', from: 'no-reply@localhost' });
    const code = unheard.sendCode('ada@example.org', '123456', null);
    await expect(code).rejects.toMatchObject({ code: 'ESOCKET' });
    unheard.close();
  });
});
