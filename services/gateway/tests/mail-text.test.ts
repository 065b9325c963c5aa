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
      .on('data', (part: string) => (text += part))
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

/** As a person may be called who signed in by a messenger. */
const hostile = 'Support\r\n\r\nYour account is locked: https://evil.example\r\nBcc: all@example.org\u202e';
const bodyLines = () => mails.flatMap(({ text }) => text.split('\r\n\r\n').slice(1).join('\n\n').split(/\r?\n/));

describe('a name that people chose', () => {
  it('begins no line of an invitation, hides nothing in it, and adds no reader', async () => {
    const url = 'https://gateway.example/invite/token';
    await mailer.sendInvite('ada@example.org', { workspace: `${hostile}'s workspace`, from: hostile, url });
    expect(mails.map(({ to }) => to)).toEqual([['ada@example.org']]);
    expect(mails[0]?.text).not.toMatch(/^Bcc/im);
    expect(mails[0]?.text).not.toMatch(/=E2=80=AE|\u202e/);
    expect(bodyLines().filter((line) => /^(Your account|https:\/\/evil)/.test(line))).toEqual([]);
    expect(bodyLines()).toContain(url);
  });

  it('begins no line of the mail with a code, which says what the code joins where it joins something', async () => {
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
