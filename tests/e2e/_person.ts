import { Authenticator } from '@countersign/testkit/authenticator';
import { Browser, type Page } from '@countersign/testkit/browser';

/** A person at the approval pages, with a key, and with a device that acts as the page's script. */
export class Person {
  readonly #origin: string;
  readonly #key: string;
  readonly #browser: Browser;
  readonly device: Authenticator;

  constructor(origin: string, key: string) {
    this.#origin = origin;
    this.#key = key;
    this.#browser = new Browser(origin);
    this.device = new Authenticator(origin);
  }

  /** Opens a page, and signs in if it asks for this. */
  async open(url: string): Promise<Page> {
    const page = await this.#browser.open(url);
    if (!page.forms.some(({ action }) => action.endsWith('/sign-in'))) return page;
    return await this.#browser.submit(page.form('sign-in'), { key: this.#key });
  }

  async decide(url: string, filled: Record<string, string>): Promise<Page> {
    const page = await this.open(url);
    return await this.#browser.submit(page.form('/approvals/apr_'), filled);
  }

  async enrol(url: string): Promise<void> {
    const form = formOf(await this.open(url), 'enrol');
    const { options } = await this.#send(form, 'register', {});
    await this.#send(form, 'verify', { attestation: this.device.create(options.challenge) });
  }

  async approve(url: string): Promise<void> {
    const form = formOf(await this.open(url), 'decide');
    const { options, challenge_id } = await this.#send(form, 'challenge', { decision: 'approve', reason: '' });
    await this.#send(form, 'assert', { challenge_id, assertion: this.device.get(options.challenge) });
  }

  /** Vouches for the first passkey on the page. */
  async vouch(url: string): Promise<void> {
    const form = formOf(await this.open(url), 'vouch');
    const { options } = await this.#send(form, 'challenge', {});
    await this.#send(form, 'assert', { assertion: this.device.get(options.challenge) });
  }

  async #send({ place, fields }: PasskeyForm, step: string, members: object): Promise<Answer> {
    const response = await fetch(`${this.#origin}${place}/${step}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: this.#browser.cookie },
      body: JSON.stringify({ ...fields, ...members }),
    });
    const answer = (await response.json()) as Answer; // the caller checks the members
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  }
}

type Answer = { challenge_id: string; options: { challenge: string } };
type PasskeyForm = { place: string; fields: Record<string, string> };

/** The form data that the script sends. */
function formOf({ markup, text }: Page, ceremony: string): PasskeyForm {
  const form = new RegExp(`data-passkey="([^"]*)"\\s+data-ceremony="${ceremony}"(.*?)</form>`, 's').exec(markup);
  if (form === null) throw new Error(`No passkey is asked for to ${ceremony}: ${text}`);
  const [, place = '', inside = ''] = form;
  const fields = [...inside.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  return { place, fields: Object.fromEntries(fields.filter(([name]) => name !== 'decision')) as PasskeyForm['fields'] };
}
