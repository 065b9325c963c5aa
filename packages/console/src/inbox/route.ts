// The style sheet loads with the page, not with the console.
import './inbox.css';

export { InboxPage } from './inbox-page.tsx';
