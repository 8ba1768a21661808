/* A fake of the GPU driver's two libraries, for tests alone: CUDA's and NVML's, in one.

   Its GPUs are those of the lines of /etc/fake-gpus: UUID, bytes of memory, name. All other functions are missing. */

#include <stdio.h>
#include <string.h>

#define FILE_OF_GPUS "/etc/fake-gpus"
#define MOST 16
#define ERROR_NOT_FOUND 6
#define CUDA_ERROR_NO_DEVICE 100

struct gpu { char uuid[64]; unsigned long long memory_bytes; char name[64]; };
struct memory { unsigned long long total, free, used; };

static struct gpu gpus[MOST];
static int number;

__attribute__((constructor)) static void read_gpus(void)
{
    FILE *file = fopen(FILE_OF_GPUS, "r");
    if (file == NULL)
        return;
    while (number < MOST && fscanf(file, "%63s %llu %63[^\n]", gpus[number].uuid, &gpus[number].memory_bytes,
                                   gpus[number].name) == 3)
        number++;
    fclose(file);
}

int cuInit(unsigned flags) { (void)flags; return number ? 0 : CUDA_ERROR_NO_DEVICE; }
int cuDeviceGetCount(int *count) { *count = number; return 0; }
int cuDeviceGet(int *device, int index) { *device = index; return 0; }

int cuDeviceGetUuid_v2(unsigned char *bytes, int device)
{
    const char *digits = strchr(gpus[device].uuid, '-') + 1;
    for (int byte = 0; byte < 16; byte++, digits += 2) {
        while (*digits == '-')
            digits++;
        unsigned value = 0;
        sscanf(digits, "%2x", &value);
        bytes[byte] = (unsigned char)value;
    }
    return 0;
}

int nvmlInitWithFlags(unsigned flags) { (void)flags; return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "550.1"); return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = (unsigned)number; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct gpu **gpu) { *gpu = &gpus[index]; return 0; }
int nvmlDeviceGetUUID(struct gpu *gpu, char *text, unsigned length) { snprintf(text, length, "%s", gpu->uuid); return 0; }
int nvmlDeviceGetName(struct gpu *gpu, char *text, unsigned length) { snprintf(text, length, "%s", gpu->name); return 0; }

int nvmlDeviceGetHandleByUUID(const char *uuid, struct gpu **gpu)
{
    for (int index = 0; index < number; index++)
        if (strcmp(gpus[index].uuid, uuid) == 0)
            return nvmlDeviceGetHandleByIndex_v2((unsigned)index, gpu);
    return ERROR_NOT_FOUND;
}

int nvmlDeviceGetMemoryInfo(struct gpu *gpu, struct memory *memory)
{
    *memory = (struct memory){gpu->memory_bytes, gpu->memory_bytes, 0};
    return 0;
}
