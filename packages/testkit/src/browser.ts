/** A browser without scripts: it stores the last cookie that a form set, follows redirects, and submits forms. */
export class Browser {
  readonly #origin: string;
  #cookie = '';

  constructor(origin: string) {
    this.#origin = origin;
  }

  get cookie(): string {
    return this.#cookie;
  }

  async open(url: string, headers: Record<string, string> = {}): Promise<Page> {
    const cookie: Record<string, string> = this.#cookie === '' ? {} : { cookie: this.#cookie };
    const response = await fetch(new URL(url, this.#origin), { headers: { ...cookie, ...headers } });
    return pageOf(response);
  }

  /** Submits a form with its shown values and the filled ones. Follows redirects. */
  async submit(form: Form, filled: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Page> {
    const response = await fetch(new URL(form.action, this.#origin), {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        ...(this.#cookie === '' ? {} : { cookie: this.#cookie }),
        ...headers,
      },
      body: new URLSearchParams({ ...form.fields, ...filled }).toString(),
      redirect: 'manual',
    });
    this.#keep(response.headers.getSetCookie());
    const location = response.headers.get('location');
    return response.status === 303 && location !== null ? this.open(location) : pageOf(response);
  }

  #keep(cookies: string[]): void {
    for (const set of cookies) {
      const [pair = ''] = set.split(';');
      this.#cookie = /Max-Age=0/.test(set) ? '' : pair;
    }
  }
}

type Form = { action: string; fields: Record<string, string> };

export type Page = {
  status: number;
  headers: Headers;
  markup: string;
  text: string;
  forms: Form[];
  form(template: string): Form;
};

async function pageOf(response: Response): Promise<Page> {
  const markup = await response.text();
  const forms = [...markup.matchAll(/<form method="post" action="([^"]*)">(.*?)<\/form>/gs)].map(
    ([, action = '', inside = '']) => ({
      action: decoded(action),
      fields: Object.fromEntries(
        [...inside.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
          ([, name = '', value = '']) => [name, decoded(value)],
        ),
      ),
    }),
  );
  const text = decoded(markup.replace(/<style>.*?<\/style>/s, '').replace(/<[^>]*>/g, ' ')).replace(/[ \n]+/g, ' ');
  const form = (template: string): Form => {
    const found = forms.find(({ action }) => action.includes(template));
    if (found === undefined) throw new Error(`There is no form to ${template}: ${text}`);
    return found;
  };
  return { status: response.status, headers: response.headers, markup, text, forms, form };
}

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
const decoded = (markup: string) => markup.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? entity);
