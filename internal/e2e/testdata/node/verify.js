// Reads captured requests as JSON from standard input; verifies each as it came, and with one byte changed.
const { Webhook } = require("standardwebhooks");

let text = "";
process.stdin.on("data", (chunk) => (text += chunk)).on("end", () => {
  let verified = 0;
  let refused = 0;
  for (const { secret, headers, body } of JSON.parse(text)) {
    const webhook = new Webhook(secret);
    webhook.verify(body, headers);
    verified++;
    try {
      webhook.verify(body.slice(0, -1) + " ", headers);
    } catch {
      refused++;
    }
  }
  console.log(JSON.stringify({ verified, refused }));
});
