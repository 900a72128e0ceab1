<?php
// A small client in PHP 8, and what a test does with it. SANDBOX is the origin of a sandbox, KEY an API key.
// For https with a certificate of the sandbox's own, name its file in SSL_CERT_FILE.
declare(strict_types=1);

$origin = getenv('SANDBOX') ?: 'http://127.0.0.1:7357';
$key = getenv('KEY') ?: 'test-php';
$phone = '420777000101';

function call(string $method, string $path, ?array $body = null): array
{
    global $origin, $key;
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => ["x-api-key: $key", 'content-type: application/json'],
        'content' => $body === null ? '' : json_encode($body),
        'ignore_errors' => true,
    ]]);
    $answer = json_decode(file_get_contents($origin . $path, false, $context), true);
    return ['status' => (int) explode(' ', $http_response_header[0])[1]] + $answer;
}

// The client: what an application calls.
function send(array $to, string $body): array
{
    return call('POST', '/v2/message', ['body' => $body, 'to' => array_map(fn ($n) => ['phone_number' => $n], $to)]);
}

function startValidation(string $number): array
{
    return call('POST', '/v1/validations', ['phoneNumber' => $number]);
}

function verify(string $token, string $code): array
{
    return call('POST', "/v1/validations/$token/verify", ['code' => $code]);
}

// The test: it opens a world, moves its clock, and looks at what came.
$world = "/_sandbox/worlds/$key";
call('POST', '/_sandbox/worlds', ['id' => $key, 'clock' => ['mode' => 'manual']]);

$sent = send([$phone], 'Hello from PHP');
printf("send: %d, %d accepted\n", $sent['status'], count($sent['accepted']));
call('POST', "$world/clock/advance", ['by' => '1m']);
$hook = call('GET', "$world/hook");
printf("webhooks: %s\n", implode(' ', array_column($hook['events'], 'result')));
$status = call('GET', '/v1/message?id=' . $sent['accepted'][0]['message_id']);
printf("status: %s\n", $status['message']['status_info']);

printf("without a recipient: %d\n", send([], 'Hello')['status']);

$token = startValidation($phone)['token'];
$code = call('GET', "$world/codes?phone=$phone")['codes'][0]['code'];
$wrong = verify($token, $code === '000000' ? '000001' : '000000');
printf("wrong code: %d %s\n", $wrong['status'], $wrong['error']);
$right = verify($token, $code);
printf("right code: %d %s\n", $right['status'], $right['phoneNumber']);

call('DELETE', $world);
